/** The parts of the page's script that need no document: curl lines, lossless JSON, fields, URLs of lists. */
import { execFileSync } from 'node:child_process'
import * as assert from 'uvu/assert'
import { curlLine } from '../../lib/explorer/page/curl.ts'
import { controlText, fieldsOf, jsonOf, sameJson } from '../../lib/explorer/page/fields.ts'
import { isRecord, parseJson, RawNumber, textOf } from '../../lib/explorer/page/json-value.ts'
import * as list from '../../lib/explorer/page/list-query.ts'
import { segmentOf } from '../../lib/explorer/page/path.ts'
import { describe } from '../helpers/describe.ts'

describe('explorer: curl lines', (test) => {
	const plain = { method: 'GET', headers: [], body: undefined, hasToken: false }

	test('a GET is its URL; brackets are not globbed', () => {
		assert.is(curlLine({ ...plain, url: 'http://a/b?c=d&e=f' }), "curl 'http://a/b?c=d&e=f'")
		assert.is(curlLine({ ...plain, url: 'http://a/b?c[in]=d' }), "curl -g 'http://a/b?c[in]=d'")
	})

	test('a token is a variable', () => {
		assert.is(
			curlLine({ ...plain, url: 'http://a/', hasToken: true }),
			'curl \'http://a/\' -H "Authorization: Bearer $TOKEN"',
		)
	})

	const bodies = [
		'{"a":"it\'s"}',
		"''",
		'$(touch x) `id` $HOME "q" \\n \\',
		'line\nline',
		'-x',
		'@file',
		'é €',
	]
	for (const body of bodies) {
		test(`a shell passes the intended text: ${JSON.stringify(body)}`, () => {
			const url = `http://a/b?c='${encodeURIComponent(body)}'[0]`
			const line = curlLine({
				...{ url, body, method: 'PATCH', hasToken: true },
				headers: [['Content-Type', 'application/json']],
			})
			const script = `curl() { printf '%s\\0' "$@"; }; TOKEN=t; ${line}`
			const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1)
			assert.equal(words, [
				...['-g', '-X', 'PATCH', url, '-H', 'Authorization: Bearer t'],
				...['-H', 'Content-Type: application/json', '--data-raw', body],
			])
		})
	}
})

describe('explorer: curl lines of files', (test) => {
	const url = 'http://a/'
	const words = (line: string) =>
		execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${line}`], { encoding: 'utf8' })
			.split('\0')
			.slice(0, -1)

	test('a binary body is read from the file', () => {
		const body = new File(['x'], "it's.bin")
		const line = curlLine({ method: 'PUT', url, headers: [], body, hasToken: false })
		assert.equal(words(line), ['-X', 'PUT', url, '--data-binary', "@it's.bin"])
	})

	test('a form has its parts; a name cannot start an option', () => {
		const body = new FormData()
		body.append('photo', new File(['x'], 'a;type=b,"c\\.png', { type: 'image/png' }))
		body.append('plain', new File(['x'], 'd'))
		body.append('text', '@e')
		const line = curlLine({ method: 'POST', url, headers: [], body, hasToken: false })
		assert.equal(words(line), [
			...['-X', 'POST', url, '-F', 'photo=@"a;type=b,\\"c\\\\.png";type=image/png'],
			...['-F', 'plain=@"d"', '--form-string', 'text=@e'],
		])
	})
})

describe('explorer: lossless JSON', (test) => {
	const same = [
		'{"id":9007199254740993,"2":1,"1":2}',
		'{"__proto__":{"a":1},"constructor":null}',
		'[1.0,1e400,-0,0.10000000000000000001]',
		'"a\\"b\\\\ \\u2028"',
		'[[],{},"",null,true,false]',
	]
	for (const text of same) {
		test(`${text} is written as it was read`, () => {
			const value = parseJson(text)
			assert.ok(value !== undefined)
			assert.is(textOf(value ?? null), text.replace('\\u2028', '\u2028'))
		})
	}

	for (const text of [
		'',
		'{',
		'[1,]',
		'{"a":1,}',
		'{a:1}',
		'01',
		'1 2',
		"'a'",
		'nul',
		'"\n"',
		'[1',
		`${'['.repeat(300)}${']'.repeat(300)}`,
	]) {
		test(`${JSON.stringify(text.slice(0, 20))} is not parsed`, () => assert.is(parseJson(text), undefined))
	}

	test('whitespace is ignored, names are not', () => {
		const value = parseJson(' { "a" : [ 1 , 2 ] } ')
		assert.ok(isRecord(value))
		if (isRecord(value)) assert.equal(value.get('a'), [new RawNumber('1'), new RawNumber('2')])
	})
})

describe('explorer: fields of forms', (test) => {
	const schema = {
		type: 'object',
		properties: {
			id: { readOnly: true },
			title: { type: 'string', maxLength: 20 },
			body: { type: ['string', 'null'] },
			rating: { anyOf: [{ type: 'number' }, { type: 'null' }] },
			state: { type: 'string', enum: ['draft', 'public'] },
			big: { type: ['integer', 'string'], format: 'int64' },
			price: { type: ['string', 'number'], format: 'decimal' },
			day: { type: 'string', format: 'date' },
			at: { type: ['string', 'null'], format: 'date-time' },
			on: { type: 'boolean' },
			tags: { type: 'array', items: { type: 'string' } },
			any: {},
			both: { allOf: [{ type: 'string', maxLength: 9 }, { minLength: 2 }] },
			until: { anyOf: [{ type: 'string', format: 'date' }, { type: 'string' }, { type: 'null' }] },
			cost: { anyOf: [{ type: ['string', 'number'], format: 'decimal' }, { type: 'string' }] },
			ratio: { anyOf: [{ type: 'number' }, { type: 'string', enum: ['NaN'] }] },
			either: { anyOf: [{ type: 'string' }, { type: 'object' }] },
		},
		required: ['title', 'on'],
	} as const

	test('each has the kind of its schema; unwritable ones are omitted', () => {
		const fields = fieldsOf(schema)
		assert.equal(
			fields?.map(({ name, kind, isNullable, isRequired }) => [name, kind, isNullable, isRequired].join(' ')),
			[
				...['title text false true', 'body long true false', 'rating number true false'],
				...['state choice false false', 'big number false false', 'price text false false'],
				...['day date false false', 'at text true false', 'on boolean false true'],
				...['tags json false false', 'any json false false', 'both text false false'],
				...['until date true false', 'cost text false false', 'ratio number false false'],
				'either json false false',
			],
		)
		assert.equal(fields?.find(({ name }) => name === 'state')?.choices, ['"draft"', '"public"'])
		assert.is(
			fields?.find(({ name }) => name === 'both')?.hint,
			'at least 2 characters · at most 9 characters',
		)
	})

	test('without known fields there are none', () => {
		assert.is(fieldsOf({}), undefined)
		assert.is(fieldsOf(undefined), undefined)
		assert.is(fieldsOf({ type: 'object', properties: { id: { readOnly: true } } }), undefined)
	})

	const typed: [Parameters<typeof jsonOf>[0], string, string][] = [
		['number', '9007199254740993', '9007199254740993'],
		['number', ' 1.5e3 ', '1.5e3'],
		['number', 'many', '"many"'],
		['number', '01', '"01"'],
		['text', 'say "hi"', '"say \\"hi\\""'],
		['boolean', 'true', 'true'],
		['choice', '"draft"', '"draft"'],
		['json', '[1, 2]', '[1, 2]'],
		['json', 'plain', '"plain"'],
		['date', '2026-11-20', '"2026-11-20"'],
	]
	for (const [kind, text, json] of typed) {
		test(`${kind} ${text} is sent as ${json}`, () => assert.is(jsonOf(kind, text), json))
	}

	test('a value is shown unchanged in its control', () => {
		assert.is(controlText('text', 'a "b"'), 'a "b"')
		assert.is(controlText('number', new RawNumber('9007199254740993')), '9007199254740993')
		assert.is(controlText('json', ['a']), '["a"]')
		assert.is(controlText('text', null), '')
	})

	test('whitespace alone is no change, a digit is', () => {
		assert.ok(sameJson('["a","b"]', '[ "a", "b" ]'))
		assert.not.ok(sameJson('9007199254740993', '9007199254740992'))
	})
})

describe('explorer: URLs of lists', (test) => {
	const parameter = (name: string, role?: 'filter' | 'sort' | 'search') => ({
		name,
		role,
		schema: {},
		required: false,
	})
	const offers = list.featuresOf([
		parameter('title', 'filter'),
		parameter('title[contains]', 'filter'),
		parameter('filter', 'filter'),
		parameter('limit[eq]', 'filter'),
		{ ...parameter('sort', 'sort'), schema: { type: 'array', items: { enum: ['title', '-title'] } } },
		parameter('search', 'search'),
		parameter('limit'),
	])

	test("a list's options are read from its parameters", () => {
		assert.equal(
			[...offers.filters],
			[
				['title', ['', 'contains']],
				['limit', ['eq']],
			],
		)
		assert.equal([...offers.sortable], ['title'])
		const schema = { anyOf: [{ type: 'array', items: { enum: ['a', '-a'] } }, { type: 'string' }] } as const
		assert.equal([...list.featuresOf([{ ...parameter('sort', 'sort'), schema }]).sortable], ['a'])
		assert.equal([offers.hasSearch, offers.hasLimit, offers.hasCount], [true, true, false])
	})

	const table: [string, string, string][] = [
		[
			'the first sort is ascending',
			list.toggledSort('/a?limit=2&cursor=x', 'title'),
			'/a?limit=2&sort=title',
		],
		['the second descending', list.toggledSort('/a?sort=title', 'title'), '/a?sort=-title'],
		['the third none', list.toggledSort('/a?sort=-title', 'title'), '/a'],
		['another field begins anew', list.toggledSort('/a?sort=-title,id', 'id'), '/a?sort=id'],
		[
			'a condition goes to the first page',
			list.withCondition('/a?offset=5', 'title', '', 'x&y'),
			'/a?title=x%26y',
		],
		[
			'operators are in brackets',
			list.withCondition('/a', 'title', 'contains', 'é'),
			'/a?title%5Bcontains%5D=%C3%A9',
		],
		['a condition is taken away', list.withoutPair('/a?title=1&b=2&title=3', 2), '/a?title=1&b=2'],
		[
			'the same records are asked for with other fields, and nothing else',
			list.askingFor('/a?cursor=x&title=1&fields=b&include=c&count=exact', ['d', 'e.f']),
			'/a?cursor=x&title=1&fields=d%2Ce.f',
		],
		[
			'empty parameters of a list are left out',
			list.asking('/a', { limit: '5', cursor: '', 'name[icontains]': 'é' }),
			'/a?limit=5&name%5Bicontains%5D=%C3%A9',
		],
		['an empty parameter goes', list.withParameter('/a?search=x&limit=2', 'search', ''), '/a?limit=2'],
	]
	for (const [what, url, expected] of table) test(what, () => assert.is(url, expected))

	test('conditions apply to fields', () => {
		assert.equal(list.conditionsOf('/a?limit=2&title=x&title%5Bcontains%5D=y&z=1', offers), [
			{ at: 1, field: 'title', operator: '', value: 'x' },
			{ at: 2, field: 'title', operator: 'contains', value: 'y' },
		])
	})

	test("a record's URL is below its list, unless no path can hold its key", () => {
		const urls = ['..', '.', '', 'a/b', '...'].map((id) =>
			list.recordUrl('/herbs/{id}', new Map([['id', id]])),
		)
		assert.equal(urls, [undefined, undefined, undefined, '/herbs/a%2Fb', '/herbs/...'])
		const row = new Map([
			['bed', 'a,b'],
			['herb', ''],
		])
		assert.is(list.recordUrl('/beds/{bed},{herb}', row), '/beds/a%2Cb,')
		assert.is(list.recordUrl('/beds/{bed},{gone}', row), undefined)
	})

	const segments: [typed: string, isList: boolean, segment: string][] = [
		['7,herb', true, '7,herb'],
		['7,a b/ü', true, '7,a%20b%2F%C3%BC'],
		['8,a%2Cb', true, '8,a%2Cb'],
		['8,50%', true, '8,50%25'],
		['herb', true, 'herb'],
		['a,b', false, 'a%2Cb'],
		['a%2Cb', false, 'a%252Cb'],
	]
	for (const [typed, isList, segment] of segments)
		test(`${typed} for ${isList ? 'a list' : 'one value'} is the segment ${segment}`, () => {
			assert.is(segmentOf(typed, isList), segment)
		})

	test('the next page is taken from Link', () => {
		assert.is(list.nextIn('</a?b=c>; rel="prev", </a?cursor=x>; rel="next"'), '/a?cursor=x')
		assert.is(list.nextIn('</a>; rel="last"'), undefined)
		assert.is(list.nextIn(undefined), undefined)
	})
})
