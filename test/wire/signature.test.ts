import { createHmac } from 'node:crypto'
import * as assert from 'uvu/assert'
import {
	authorityOf,
	ParameterComponents,
	RequestComponents,
	type SignedRequest,
	signatureBase,
} from '../../lib/wire/signature.ts'
import { type InnerList, isInnerList, parseDictionary } from '../../lib/wire/structured-fields.ts'
import { type ComponentVector, VECTORS } from '../auth/hmac/vectors.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

type Lines = readonly (readonly [name: string, value: string])[]

function requestOf(
	line: string,
	headers: Lines = [],
	scheme: SignedRequest['scheme'] = 'http',
): SignedRequest {
	const [method = '', target = ''] = line.split(' ')
	const fieldLines = (name: string): string[] =>
		headers.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value)
	const authority = authorityOf(fieldLines('host')[0] ?? '', scheme)
	const structuredFields = { 'example-dict': 'dictionary', 'example-list': 'list' } as const
	return { method, scheme, authority, target, fieldLines, structuredFields }
}

function coveredOf(input: string): InnerList {
	const [member] = parseDictionary(input).values()
	if (member === undefined || !isInnerList(member)) throw new TypeError(`no inner list: ${input}`)
	return member
}

function baseOf(request: SignedRequest, input: string): string {
	return signatureBase(new ParameterComponents(request), coveredOf(input))
}

/** The value of one component, as it stands in a base. */
function valueIn(request: SignedRequest, id: string): string {
	const [line = ''] = baseOf(request, `s=(${id})`).split('\n')
	assert.is(line.slice(0, id.length + 2), `${id}: `)
	return line.slice(id.length + 2)
}

/** Vectors that say `(same)` mean the one before; those of fields have no request. */
function requestsOf(vectors: readonly ComponentVector[]): [ComponentVector, SignedRequest][] {
	let request = ''
	let lines: readonly string[] = []
	return vectors.map((vector) => {
		if (vector.request !== undefined && vector.request !== '(same)') request = vector.request
		if (vector.fieldLines !== undefined && vector.fieldLines[0] !== '(same)') lines = vector.fieldLines
		const line = request.startsWith('(') ? 'GET /path' : request
		const headers: Lines = [
			['Host', vector.host ?? 'www.example.com'],
			...lines.map((text) => {
				const colon = text.indexOf(':')
				return [text.slice(0, colon), text.slice(colon + 1)] as const
			}),
		]
		return [vector, requestOf(line, headers, vector.scheme)]
	})
}

describe('signature base: vectors of RFC 9421', (test) => {
	for (const [vector, request] of requestsOf(VECTORS.components)) {
		const of = vector.fieldLines?.join(' | ') ?? vector.request
		test(`§${vector.section} ${vector.id} of ${of} is ${vector.value}`, () =>
			assert.is(valueIn(request, vector.id), vector.value))
	}

	const secret = Buffer.from(VECTORS.key.secretB64, 'base64')
	const signed = [
		...VECTORS.hmac.map((vector) => {
			const message = VECTORS.messages[vector.message]
			return { ...vector, ...message, name: vector.label, headers: message?.headers ?? [] }
		}),
		...VECTORS.derived.map((vector) => ({ ...vector, headers: Object.entries(vector.headers) })),
	]
	for (const { name, method, requestTarget, headers, signatureBase, signatureInput, signature } of signed) {
		test(`${name}: base and signature equal those of other implementations`, () => {
			const base = baseOf(requestOf(`${method} ${requestTarget}`, headers), signatureInput)
			assert.is(base, signatureBase)
			const bytes = createHmac('sha256', secret).update(base).digest('base64')
			assert.is(signature, `${signatureInput.split('=')[0]}=:${bytes}:`)
		})
	}

	test('§2.5: the example', () => {
		const { lines, message } = VECTORS.baseExample
		const { method = '', requestTarget = '', headers = [] } = VECTORS.messages[message] ?? {}
		const input = lines.at(-1)?.slice('"@signature-params": '.length)
		assert.is(baseOf(requestOf(`${method} ${requestTarget}`, headers), `s=${input}`), lines.join('\n'))
	})
})

describe('signature base: missing values', (test) => {
	const request = requestOf('GET /a?b=1&c=2&c=3&%FF=1', [
		['Host', 'example.com'],
		['X-A', 'a'],
		['X-Latin', 'caf\xe9'],
		['X-Space', 'a\xa0'],
		['X-Line', 'a\r\n"@method": DELETE'],
		['Example-Dict', 'a=1, b'],
		['X-Bad', 'a=1,'],
	])
	/** The rule, what is covered, and what is said. */
	const table: [string, string, string][] = [
		['component identifier listed twice', '"x-a" "@method" "x-a"', 'a component is covered twice'],
		[
			'the same, in another order of parameters',
			'"example-dict";key="a";sf "example-dict";sf;key="a"',
			'a component is covered twice',
		],
		['component parameter not understood', '"x-a";foo', 'the covered x-a has a disallowed parameter'],
		['the same, of a derived component', '"@method";sf', 'the covered @method has a disallowed parameter'],
		['trailers', '"x-a";tr', 'the covered x-a has a disallowed parameter'],
		['bs together with sf', '"example-dict";bs;sf', 'bs is combined with sf or key'],
		['bs together with key', '"example-dict";key="a";bs', 'bs is combined with sf or key'],
		['req on a request', '"@method";req', 'the covered @method has a disallowed parameter'],
		['req on a field', '"x-a";req', 'the covered x-a has a disallowed parameter'],
		['unknown derived component', '"@foo"', 'a request has no such derived component'],
		['covered field absent from the message', '"x-b"', 'the covered field x-b is missing'],
		['key of a member that is absent', '"example-dict";key="c"', 'a covered dictionary member is missing'],
		[
			'key in what is no dictionary',
			'"x-bad";key="a"',
			'a member after the comma was expected at character 5',
		],
		[
			'a key that is no string',
			'"example-dict";key=a',
			'the covered example-dict needs a string as its parameter',
		],
		['sf of a field not known', '"x-a";sf', 'sf needs a known Structured Field, which x-a is not'],
		['sf that is not true', '"example-dict";sf=?0', 'the covered example-dict has a flag that is not true'],
		['query-param absent', '"@query-param";name="d"', 'a covered query parameter is missing'],
		['query-param twice', '"@query-param";name="c"', 'a covered query parameter is repeated'],
		['query-param without a name', '"@query-param"', 'a request has no such derived component'],
		[
			'query-param in another encoding',
			'"@query-param";name="%62"',
			'the name of a covered query parameter is not canonically encoded',
		],
		[
			'query-param malformed',
			'"@query-param";name="%"',
			'the name of a covered query parameter is not canonically encoded',
		],
		['@status in a request', '"@status"', 'a request has no such derived component'],
		['@signature-params covered', '"@signature-params"', 'a request has no such derived component'],
		['non-ASCII in the base', '"x-latin"', 'the value of x-latin is not ASCII'],
		['a byte that is a space elsewhere', '"x-space"', 'the value of x-space is not ASCII'],
		['a line break in the base', '"x-line"', 'the value of x-line is not ASCII'],
		['a name in upper case', '"X-A"', 'the name of a covered field is not in lower case'],
		['a name that is none', '"x a"', 'the name of a covered field is not in lower case'],
		['no name', '""', 'the name of a covered field is not in lower case'],
		['a name that is no string', 'x-a', 'a component identifier is not a string'],
		[
			'too many',
			Array.from({ length: 65 }, (_, at) => `"x-${at}"`).join(' '),
			'more than 64 components are covered',
		],
	]
	for (const [rule, covered, message] of table) {
		test(rule, () =>
			assert.is(
				messageOf(() => baseOf(request, `s=(${covered})`)),
				message,
			),
		)
	}

	test('a client has no components with parameters', () => {
		const components = new RequestComponents(request)
		assert.is(
			messageOf(() => signatureBase(components, coveredOf('s=("x-a";bs)'))),
			'the covered x-a has a disallowed parameter',
		)
	})
})

describe('signature base: values', (test) => {
	const request = requestOf(
		'GET http://other/p%2Fq?a%20b=%C3%A9+~',
		[
			['Host', 'EXAMPLE.com:80'],
			['X-A', '  a\t'],
			['x-a', ''],
			['X-A', 'b'],
			['X-Bytes', '\xff'],
			['Example-List', 'a,  b;c'],
			['Content-Digest', 'sha-256=:AA==:,  sha-512=:AA==:'],
		],
		'https',
	)
	const table: [string, string][] = [
		['"x-a"', 'a, , b'],
		['"x-a";bs', ':YQ==:, ::, :Yg==:'],
		['"x-bytes";bs', ':/w==:'],
		['"example-list";sf', 'a, b;c'],
		['"content-digest";sf', 'sha-256=:AA==:, sha-512=:AA==:'],
		['"content-digest";key="sha-512"', ':AA==:'],
		['"content-digest";key="sha-512";sf', ':AA==:'],
		['"@authority"', 'example.com:80'],
		['"@target-uri"', 'https://example.com:80/p%2Fq?a%20b=%C3%A9+~'],
		['"@path"', '/p%2Fq'],
		['"@query"', '?a%20b=%C3%A9+~'],
		['"@query-param";name="a%20b"', '%C3%A9%20%7E'],
	]
	for (const [id, value] of table) test(`${id} is ${value}`, () => assert.is(valueIn(request, id), value))

	for (const [target, path, query] of [
		['/', '/', '?'],
		['/?', '/', '?'],
		['/a??b', '/a', '??b'],
		['//a/b', '//a/b', '?'],
		['http://host', '/', '?'],
		['HTTPS://host?a', '/', '?a'],
	] as const) {
		test(`of ${target} the path is ${path}, the query ${query}`, () => {
			const request = requestOf(`GET ${target}`)
			assert.equal([valueIn(request, '"@path"'), valueIn(request, '"@query"')], [path, query])
		})
	}

	for (const [host, scheme, authority] of [
		['example.com:443', 'https', 'example.com'],
		['example.com:443', 'http', 'example.com:443'],
		['[::1]:80', 'http', '[::1]'],
		['EXAMPLE.com:8080', 'http', 'example.com:8080'],
	] as const) {
		test(`${host} over ${scheme} is ${authority}`, () => assert.is(authorityOf(host, scheme), authority))
	}

	test('signature parameters keep their order, in strict form', () => {
		assert.is(
			baseOf(requestOf('GET /'), 's=( "@method"   "@path" );  z=01;created=1;x'),
			'"@method": GET\n"@path": /\n"@signature-params": ("@method" "@path");z=1;created=1;x',
		)
	})
})
