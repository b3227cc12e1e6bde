import * as assert from 'uvu/assert'
import { MAX_PART_HEADERS, parseDisposition, parsePart } from '../../../lib/request/body/multipart.ts'
import { describe } from '../../helpers/describe.ts'
import { milliseconds, refusalText } from './refusal.ts'

const NAMED = 'Content-Disposition: form-data; name=a\r\n'

function part(text: string): {
	name: string
	filename: string | undefined
	contentType: string | undefined
	content: string
} {
	const parsed = parsePart(Buffer.from(text, 'latin1'), 'Part 3')
	return { ...parsed, content: parsed.content.toString('latin1') }
}

describe('body/multipart: one part', (test) => {
	const table: [string, string, string, string | undefined][] = [
		['content', `${NAMED}\r\nx`, 'x', undefined],
		['no content', `${NAMED}\r\n`, '', undefined],
		['headers that nothing follows', NAMED, '', undefined],
		['bytes of any kind', `${NAMED}\r\n\x00\xff\r\n\r\n\n`, '\x00\xff\r\n\r\n\n', undefined],
		['a type', `content-type:text/plain \r\n${NAMED}\r\nx`, 'x', 'text/plain'],
		['other headers, repeated', `X-A: 1\r\nX-A: 2\r\nContent-Length: 9\r\n${NAMED}\r\nx`, 'x', undefined],
		['a folded line', 'Content-Disposition: form-data;\r\n\t name=a\r\n\r\nx', 'x', undefined],
		['8bit', `${NAMED}Content-Transfer-Encoding: 8BIT\r\n\r\nx`, 'x', undefined],
		['binary', `${NAMED}Content-Transfer-Encoding: binary\r\n\r\nx`, 'x', undefined],
		['7bit', `${NAMED}Content-Transfer-Encoding:7bit\r\n\r\nx`, 'x', undefined],
	]
	for (const [name, text, content, contentType] of table) {
		test(`${name} is read`, () =>
			assert.equal(part(text), { name: 'a', filename: undefined, contentType, content }))
	}

	const malformed = '400 Part 3 has a malformed header: lines are Name: value, ended by CR LF'
	const encoding =
		'400 Part 3 has an unsupported Content-Transfer-Encoding: it must be 7bit, 8bit or binary, or left out'
	const refusals: [string, string][] = [
		['', '400 Part 3 has no empty line after its headers; lines end with CR LF'],
		['x', '400 Part 3 has no empty line after its headers; lines end with CR LF'],
		[
			'Content-Disposition: form-data; name=a\n\nx',
			'400 Part 3 has no empty line after its headers; lines end with CR LF',
		],
		['\r\nx', '400 Part 3 has no Content-Disposition'],
		['\r\n', '400 Part 3 has no Content-Disposition'],
		['Content-Type: a/b\r\n\r\nx', '400 Part 3 has no Content-Disposition'],
		['no colon\r\n\r\nx', malformed],
		[': no name\r\n\r\nx', malformed],
		[`X : 1\r\n${NAMED}\r\nx`, malformed],
		[`X: \0\r\n${NAMED}\r\nx`, malformed],
		[`X: a\rb\r\n${NAMED}\r\nx`, malformed],
		[' folded: first\r\n\r\nx', malformed],
		[`${NAMED}${NAMED}\r\nx`, '400 Part 3 has a header twice: content-disposition'],
		[`X: \xe9\r\n${NAMED}\r\nx`, '400 The header block of part 3 is not UTF-8 at byte 3'],
		[`${NAMED}Content-Transfer-Encoding: base64\r\n\r\nx`, encoding],
		[`${NAMED}Content-Transfer-Encoding: quoted-printable\r\n\r\nx`, encoding],
		[`${NAMED}Content-Transfer-Encoding:\r\n\r\nx`, encoding],
	]
	for (const [text, expected] of refusals) {
		test(`${JSON.stringify(text)} is refused`, () =>
			assert.is(
				refusalText(() => part(text)),
				expected,
			))
	}

	test('16 kB of headers are accepted, one byte more is not', () => {
		const padding = MAX_PART_HEADERS - NAMED.length - 'X: '.length
		const fits = `${NAMED}X: ${'a'.repeat(padding)}`
		assert.is(fits.length, 16_384)
		assert.is(part(`${fits}\r\n\r\nx`).content, 'x')
		const expected = '413 Part 3 has more than 16384 bytes of headers'
		assert.is(
			refusalText(() => part(`${fits}a\r\n\r\nx`)),
			expected,
		)
		assert.is(
			refusalText(() => part(`${fits}a\r\n`)),
			expected,
		)
	})

	for (const [name, line] of [
		['spaces', `X: a${' '.repeat(16_000)}b`],
		['folds', `X: a${'\r\n '.repeat(5_000)}b`],
		['short lines', `${'X:\r\n'.repeat(4_000)}X:`],
	] as const) {
		test(`16 kB of ${name} take linear time`, () => {
			assert.ok(milliseconds(() => part(`${line}\r\n${NAMED}\r\nx`)) < 200)
		})
	}
})

describe('body/multipart: Content-Disposition', (test) => {
	const table: [string, string, string, string | undefined][] = [
		['browsers', 'form-data; name="a"', 'a', undefined],
		['browsers, a file', 'form-data; name="a"; filename="b.txt"', 'a', 'b.txt'],
		['browsers, no file chosen', 'form-data; name="a"; filename=""', 'a', ''],
		[
			'browsers, quote and line break',
			'form-data; name="a%22b%0D%0A"; filename="%22.txt"',
			'a"b\r\n',
			'".txt',
		],
		['browsers, a percent sign', 'form-data; name="50%"; filename="%41%0d%.txt"', '50%', '%41%0d%.txt'],
		['browsers, beyond ASCII', 'form-data; name="é"; filename="漢 🌱.png"', 'é', '漢 🌱.png'],
		['a Windows path', 'form-data; name="a"; filename="C:\\dir\\new.txt"', 'a', 'C:\\dir\\new.txt'],
		['curl before 7.81', 'form-data; name="a"; filename="q\\"uote\\\\.txt"', 'a', 'q"uote\\.txt'],
		['a backslash before %22', 'form-data; name="a"; filename="\\%22"', 'a', '\\"'],
		['.NET', "form-data; name=a; filename=b.txt; filename*=utf-8''b.txt", 'a', 'b.txt'],
		[
			'filename* wins',
			'form-data; filename*=UTF-8\'en\'na%C3%AFve%20%22.txt; filename="x"; name=a',
			'a',
			'naïve ".txt',
		],
		['filename* alone', "form-data; name=a; filename*=utf-8''%E6%BC%A2", 'a', '漢'],
		['any case, no space', 'Form-Data;NAME="a";FileName=b', 'a', 'b'],
		['an empty name', 'form-data; name=""', '', undefined],
		['separators in quotes', 'form-data; name="a; filename=b"', 'a; filename=b', undefined],
		['unknown parameters', "form-data; name=a; size=3; name*=utf-8''b", 'a', undefined],
		['a path, which is data', 'form-data; name=a; filename="../../etc/passwd"', 'a', '../../etc/passwd'],
		['a trailing semicolon', 'form-data; name=a;', 'a', undefined],
	]
	for (const [name, header, field, filename] of table) {
		test(`${name}: ${header}`, () => {
			assert.equal(parseDisposition(header, 'Part 3'), { name: field, filename })
		})
	}

	const notFormData = '400 The Content-Disposition of part 3 must be form-data'
	const malformed =
		'400 The Content-Disposition of part 3 is malformed: parameters are ; name="value", each once'
	const noName = '400 The Content-Disposition of part 3 has no name'
	const extended =
		"400 The Content-Disposition of part 3 has a wrong filename*: it must be UTF-8'' and percent-encoded text"
	const refusals: [string, string][] = [
		['', notFormData],
		['attachment; name=a', notFormData],
		['form-datax; name=a', notFormData],
		['form-data', noName],
		['form-data; filename=a', noName],
		["form-data; name*=utf-8''a", noName],
		['form-data name=a', malformed],
		['form-data; name=a b', malformed],
		['form-data; name="a', malformed],
		['form-data; name="a\\"', malformed],
		['form-data; name=é', malformed],
		['form-data; name=a; name=b', malformed],
		['form-data; name=a; filename=b; FILENAME=c', malformed],
		['form-data; name=__proto__', '400 Part 3 is named __proto__, which is reserved'],
		['form-data; name="__proto__"', '400 Part 3 is named __proto__, which is reserved'],
		["form-data; name=a; filename*=iso-8859-1''%E9", extended],
		["form-data; name=a; filename*=utf-8''%E9", extended],
		["form-data; name=a; filename*=utf-8''%", extended],
		['form-data; name=a; filename*=b.txt', extended],
	]
	for (const [header, expected] of refusals) {
		test(`${header || 'nothing'} is wrongDisposition`, () => {
			assert.is(
				refusalText(() => parseDisposition(header, 'Part 3')),
				expected,
			)
		})
	}
})
