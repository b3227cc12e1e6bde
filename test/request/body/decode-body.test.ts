import fc from 'fast-check'
import * as assert from 'uvu/assert'
import { decodeBody } from '../../../lib/request/body/decode-body.ts'
import { CODE_POINT } from '../../helpers/any-text.ts'
import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'
import { refusal, refusalText, valueOrRefusal } from './refusal.ts'

const ACCEPT = 'application/json, application/x-www-form-urlencoded, multipart/form-data'
const SEND = 'send application/json, application/x-www-form-urlencoded or multipart/form-data'

function decode(text: string, contentType?: string, contentEncoding?: string): ReturnType<typeof decodeBody> {
	return decodeBody(Buffer.from(text), { contentType, contentEncoding })
}

describe('body/decode-body', (test) => {
	for (const type of [
		'application/json',
		'application/json; charset=utf-8',
		'Application/JSON;charset="UTF-8"',
		'application/vnd.api+json',
		'application/merge-patch+json',
	]) {
		test(`${type} is JSON`, () => assert.equal(decode('{"a":1}', type), { kind: 'json', value: { a: 1 } }))
	}

	test('a form is decoded to its fields', () => {
		const body = decode('a=1&a=2&b=3', 'application/x-www-form-urlencoded; charset=utf-8')
		assert.is(body.kind, 'form')
		assert.equal({ ...(body.value as object) }, { a: '2', b: '3' })
		assert.is(Object.getPrototypeOf(body.value), null)
		assert.equal(body.kind === 'form' && body.fields.all('a'), ['1', '2'])
	})

	test('multipart is decoded to fields and files', () => {
		const text = 'Content-Disposition: form-data; name=a\r\n\r\n1\r\n'
		const file = 'Content-Disposition: form-data; name=f; filename=b\r\n\r\n2\r\n'
		const body = decode(`--X\r\n${text}--X\r\n${file}--X--`, 'multipart/form-data; boundary="X"')
		if (body.kind !== 'multipart') throw new Error(body.kind)
		assert.equal({ ...body.value }, { a: '1' })
		assert.equal(body.fields.all('a'), ['1'])
		assert.equal(
			body.files.f?.map((each) => each.name),
			['b'],
		)
	})

	for (const [type, encoding] of [
		[undefined, undefined],
		['application/json', undefined],
		['text/html', undefined],
		['nonsense', 'gzip'],
	] as const) {
		test(`zero bytes of ${type} in ${encoding} are empty`, () => {
			assert.equal(decode('', type, encoding), { kind: 'empty', value: undefined })
		})
	}

	for (const encoding of ['identity', 'Identity', '']) {
		test(`Content-Encoding "${encoding}" changes nothing`, () => {
			assert.is(decode('1', 'application/json', encoding).value, 1)
		})
	}

	const refusals: [string, string | undefined, string | undefined, string][] = [
		['1', undefined, undefined, `415 The body has no Content-Type: ${SEND}`],
		['1', '', undefined, `415 The body has no Content-Type: ${SEND}`],
		['1', 'text/plain', undefined, `415 The Content-Type of the body is not supported: ${SEND}`],
		['1', 'text/json', undefined, `415 The Content-Type of the body is not supported: ${SEND}`],
		[
			'1',
			'multipart/mixed; boundary=X',
			undefined,
			`415 The Content-Type of the body is not supported: ${SEND}`,
		],
		['1', 'application/json', 'gzip', '415 The body must have no Content-Encoding'],
		['1', 'application/json', 'identity, gzip', '415 The body must have no Content-Encoding'],
		[
			'1',
			'application/json; charset=utf-16',
			undefined,
			'415 Content-Type has a charset that is not supported: it must be utf-8, or left out',
		],
		[
			'a',
			'application/x-www-form-urlencoded; charset=latin1',
			undefined,
			'415 Content-Type has a charset that is not supported: it must be utf-8, or left out',
		],
		[
			'1',
			'application/json; charset',
			undefined,
			'415 Content-Type is malformed: it must be type/subtype and parameters; name=value, each once',
		],
		...['', '""', ' ', '; charset=utf-8', 'x'.repeat(71)].map(
			(boundary): [string, string, undefined, string] => [
				'1',
				`Multipart/Form-Data; Boundary=${boundary}`,
				undefined,
				`400 The boundary in Content-Type is malformed: it must be 1 to 70 letters, digits or '()+_,-./:=? and inner spaces`,
			],
		),
		[
			'1',
			'multipart/form-data; boundary=; boundary=X',
			undefined,
			'415 Content-Type is malformed: it must be type/subtype and parameters; name=value, each once',
		],
		['1', 'multipart/form-data', undefined, '400 The Content-Type of a multipart body must have a boundary'],
		[
			'{',
			'application/json',
			undefined,
			'400 The body is malformed JSON at line 1, column 2, where it ends: expected a key in double quotes or }',
		],
		[
			'a=%',
			'application/x-www-form-urlencoded',
			undefined,
			'400 Form field 1 has a % without two hexadecimal digits: write a percent sign as %25',
		],
	]
	for (const [text, type, encoding, expected] of refusals) {
		test(`${text} of ${type} in ${encoding} is refused`, () => {
			assert.is(
				refusalText(() => decode(text, type, encoding)),
				expected,
			)
		})
	}

	test('a 415 lists the accepted types and encodings in its headers', () => {
		assert.equal(refusal(() => decode('1', 'text/plain')).headers, { Accept: ACCEPT })
		assert.equal(refusal(() => decode('1', undefined)).headers, { Accept: ACCEPT })
		assert.equal(refusal(() => decode('1', 'application/json', 'br')).headers, {
			'Accept-Encoding': 'identity',
		})
	})

	test('any bytes of any type are a value or a refusal, whose message has none of their text', () => {
		const type = fc.oneof(
			fc.constantFrom(
				'application/json',
				'application/x-www-form-urlencoded',
				'multipart/form-data; boundary=X',
			),
			fc.string({ unit: CODE_POINT }),
			fc.string().map((text) => `multipart/form-data; boundary="${text}"`),
		)
		const coding = fc.option(fc.string(), { nil: undefined, freq: 10 })
		fc.assert(
			fc.property(fc.uint8Array(), type, coding, (bytes, contentType, contentEncoding) => {
				valueOrRefusal(() => decodeBody(Buffer.from(bytes), { contentType, contentEncoding }))
			}),
			{ numRuns: trials(700) },
		)
		for (const contentType of [
			'application/json',
			'application/x-www-form-urlencoded',
			'multipart/form-data; boundary=X',
		]) {
			const message = refusalText(() => decode('--X\r\nhunter2\r\n%--X--', contentType))
			assert.not.match(message, 'hunter2')
		}
	})
})
