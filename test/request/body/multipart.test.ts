import * as assert from 'uvu/assert'
import { decodeMultipart, type Multipart } from '../../../lib/request/body/multipart.ts'
import { describe } from '../../helpers/describe.ts'
import { refusalText } from './refusal.ts'

/** A part of text named `name`, from its delimiter to its end. */
function field(name: string, text: string): string {
	return `--X\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
}

function decode(text: string, boundary = 'X'): Multipart {
	return decodeMultipart(Buffer.from(text, 'latin1'), boundary)
}

function texts(text: string, boundary = 'X'): Record<string, string> {
	return { ...decode(text, boundary).fields.last }
}

const A = field('a', '1')

describe('body/multipart: delimiters', (test) => {
	const table: [string, string, Record<string, string>][] = [
		['one part', `${A}--X--\r\n`, { a: '1' }],
		['two parts', `${A}${field('b', '2')}--X--\r\n`, { a: '1', b: '2' }],
		['no parts', '--X--\r\n', {}],
		['no parts, nothing after', '--X--', {}],
		['no line break at the end', `${A}--X--`, { a: '1' }],
		['a preamble', `This is\r\n--Y\r\n\r\n${A}--X--`, { a: '1' }],
		['an empty line before', `\r\n${A}--X--`, { a: '1' }],
		['an epilogue', `${A}--X--\r\nbye\r\n--X\r\nbye`, { a: '1' }],
		['padding', `--X \t\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--X-- \t\r\n`, { a: '1' }],
		['padding at the end', `${A}--X-- `, { a: '1' }],
		['a longer boundary in content', `${field('a', '1\r\n--XY\r\n2')}--X--`, { a: '1\r\n--XY\r\n2' }],
		['the boundary without line break before', `${field('a', '1--X\r\n')}--X--`, { a: '1--X\r\n' }],
		['the boundary after a line feed', `${field('a', '1\n--X\r\n')}--X--`, { a: '1\n--X\r\n' }],
		['the boundary before a line feed', `${field('a', '1\r\n--X\n')}--X--`, { a: '1\r\n--X\n' }],
		['the boundary before a bare CR', `${field('a', '1\r\n--X\rb')}--X--`, { a: '1\r\n--X\rb' }],
		['a closing delimiter with more after it', `${field('a', '1\r\n--X--2')}--X--`, { a: '1\r\n--X--2' }],
		['a closing delimiter with one dash', `${field('a', '1\r\n--X-\r\n')}--X--`, { a: '1\r\n--X-\r\n' }],
		['one dash before', `${field('a', '1\r\n-X\r\n')}--X--`, { a: '1\r\n-X\r\n' }],
		['line breaks at both ends of content', `${field('a', '\r\n1\r\n')}--X--`, { a: '\r\n1\r\n' }],
		['empty content', `${field('a', '')}--X--`, { a: '' }],
		['a part of headers only', '--X\r\nContent-Disposition: form-data; name=a\r\n\r\n--X--', { a: '' }],
		['a lookalike first line', `--XY\r\n${A}--X--`, { a: '1' }],
	]
	for (const [name, body, expected] of table) test(name, () => assert.equal(texts(body), expected))

	for (const boundary of [
		'a',
		'x'.repeat(70),
		"0aA'()+_,-./:=?",
		'gc0pJq0M:08jU534c0p',
		'in the middle',
		'--',
		'----WebKitFormBoundaryABC',
	]) {
		test(`the boundary ${boundary} is accepted`, () => {
			assert.equal(texts(`${A}--X--\r\n`.replaceAll('--X', `--${boundary}`), boundary), { a: '1' })
		})
	}

	for (const boundary of ['', 'x'.repeat(71), 'a ', ' ', 'a"b', 'a\\b', 'é', 'a\r\nb', 'a;b', 'a*b', 'a\n']) {
		test(`the boundary ${JSON.stringify(boundary)} is refused`, () => {
			const right = "it must be 1 to 70 letters, digits or '()+_,-./:=? and inner spaces"
			const expected = `400 The boundary in Content-Type is malformed: ${right}`
			assert.is(
				refusalText(() => decode('--X--', boundary)),
				expected,
			)
		})
	}

	const notOpened =
		'400 The multipart body has no first delimiter: -- and the boundary of Content-Type, ended by CR LF'
	const notClosed =
		'400 The multipart body is not closed: it must end with a line of --, the boundary in Content-Type, and --'
	const refusals: [string, string, string][] = [
		['nothing', '', notOpened],
		['another boundary', '--Y\r\n\r\n--Y--', notOpened],
		['line feeds alone', '--X\nContent-Disposition: form-data; name=a\n\n1\n--X--', notOpened],
		['a bare first boundary', '--X', notOpened],
		['no closing delimiter', A, notClosed],
		['a cut closing delimiter', `${A}--X-`, notClosed],
		['a cut part', `${A}${field('b', '2')}`.slice(0, -4), notClosed],
		['parts that share a line break', '--X\r\n--X--', notClosed],
		[
			'a part that is empty',
			'--X\r\n\r\n--X--',
			'400 Part 1 has no empty line after its headers; lines end with CR LF',
		],
		['a part without headers', '--X\r\n\r\n1\r\n--X--', '400 Part 1 has no Content-Disposition'],
		[
			'a second part without name',
			`${A}--X\r\nContent-Type: a/b\r\n\r\n--X--`,
			'400 Part 2 has no Content-Disposition',
		],
	]
	for (const [name, body, expected] of refusals) {
		test(`${name} is refused`, () =>
			assert.is(
				refusalText(() => decode(body)),
				expected,
			))
	}

	test('1,000 parts are accepted, one more is not', () => {
		assert.is(decode(`${A.repeat(1_000)}--X--`).fields.all('a').length, 1_000)
		const expected = '413 The multipart body has more than 1000 parts'
		assert.is(
			refusalText(() => decode(`${A.repeat(1_001)}--X--`)),
			expected,
		)
	})
})

describe('body/multipart: parts', (test) => {
	test('repeated fields are all kept, and the last one is the value', () => {
		const { fields, files } = decode(`${A}${field('b', '')}${field('a', '2')}--X--`)
		assert.equal({ ...fields.last }, { a: '2', b: '' })
		assert.equal(fields.all('a'), ['1', '2'])
		assert.equal(Object.keys(files), [])
		assert.is(Object.getPrototypeOf(files), null)
	})

	test('a field is UTF-8, and _charset_ has no special meaning', () => {
		const body = Buffer.from(`${field('_charset_', 'iso-8859-1')}${field('é', '漢')}--X--`)
		assert.equal({ ...decodeMultipart(body, 'X').fields.last }, { _charset_: 'iso-8859-1', é: '漢' })
	})

	test('a field that is not UTF-8 is refused, naming its part', () => {
		assert.is(
			refusalText(() => decode(`${A}${field('b', 'x\xe9')}--X--`)),
			'400 Part 2 is not UTF-8 at byte 1',
		)
	})

	const typed = (type: string): string => A.replace('name="a"', `name="a"\r\nContent-Type: ${type}`)
	for (const type of ['text/plain', 'text/plain; charset=UTF-8', 'application/json']) {
		test(`a field of type ${type} is text`, () => assert.equal(texts(`${typed(type)}--X--`), { a: '1' }))
	}
	const types: [string, string][] = [
		[
			'text/plain; charset=iso-8859-1',
			'415 Content-Type of part 1 has a charset that is not supported: it must be utf-8, or left out',
		],
		[
			'text',
			'415 Content-Type of part 1 is malformed: it must be type/subtype and parameters; name=value, each once',
		],
	]
	for (const [type, expected] of types) {
		test(`a field of type ${type} is refused`, () => {
			assert.is(
				refusalText(() => decode(`${typed(type)}--X--`)),
				expected,
			)
		})
	}

	test('a field named __proto__ is refused, text or file', () => {
		const expected = '400 Part 1 is named __proto__, which is reserved'
		assert.is(
			refusalText(() => decode(`${field('__proto__', '1')}--X--`)),
			expected,
		)
		assert.is(
			refusalText(() => decode(`${field('__proto__"; filename="a', '1')}--X--`)),
			expected,
		)
	})

	test('a file keeps its bytes, name and type', async () => {
		const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
		const head =
			'Content-Disposition: form-data; name=photo; filename="../cat.png"\r\nContent-Type: image/png'
		const body = Buffer.concat([Buffer.from(`--X\r\n${head}\r\n\r\n`), bytes, Buffer.from('\r\n--X--')])
		const { files, fields } = decodeMultipart(body, 'X')
		const [file, ...more] = files.photo ?? []
		assert.is(file?.name, '../cat.png')
		assert.is(file?.type, 'image/png')
		assert.ok(file instanceof File)
		assert.equal(Buffer.from(await file.arrayBuffer()), bytes)
		assert.is(more.length, 0)
		assert.equal(Object.keys(fields.last), [])
	})

	test('files of one name are kept in order; one without type is text/plain', () => {
		const { files } = decode(`${field('f"; filename="a', '1')}${field('f"; filename="b', '')}--X--`)
		assert.equal(
			files.f?.map((file) => [file.name, file.size, file.type]),
			[
				['a', 1, 'text/plain'],
				['b', 0, 'text/plain'],
			],
		)
	})

	test('an empty file input is skipped; content without a filename is a file', () => {
		const { files, fields } = decode(`${field('f"; filename="', '')}${field('g"; filename="', '1')}--X--`)
		assert.equal(Object.keys(files), ['g'])
		assert.is(files.g?.[0]?.name, '')
		assert.equal(Object.keys(fields.last), [])
	})
})
