/** The model contract: values of every type are returned as `FieldType` specifies, by every method. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { Value } from '../../models/model.ts'
import { RawJson } from '../../wire/raw-json.ts'
import { same } from '../case.ts'
import { needsOf } from './fields.ts'
import { type ModelFixture, type ModelTest, parsed, tests, testsFor } from './fixture.ts'

/** Texts with a meaning in statements, patterns, separators or JSON. */
export const HOSTILE: readonly string[] = [
	...["'", "''", "a'b", "\\'", "'; drop table contract; --", "' or '1'='1", '" or ""="', '`', '``', 'a`b'],
	...['\\', '\\\\', 'a\\', '\\n', '\\x00', '\\u0041', '%', '_', '%_%', '\\%', '[a-z]', '*', '?', '??', '$1'],
	...['$$', '$a$', ':name', '@name', '@@version', '#comment', '--', '/* comment */', ';', '{{a}}'],
	...['$\u007ba}', '#{a}', '<%= a %>', '{"a":1}', '"}],"next":null', '],[', ',\u0001', ',\n', ', ', '},{'],
	...['null', 'NULL', 'true', 'undefined', 'NaN', '0', '-1', '1e3', '0x10', '<script>alert(1)</script>'],
	...['../../etc/passwd', '__proto__', 'constructor', 'draft'],
]

const TEXTS: readonly string[] = [
	...['', ' ', '  a  ', 'a ', '\t', '\r\n', 'a\nb', '\u0001\u0002\u001f\u007f', '\u0085\u2028\u2029\ufeff'],
	...['žluťoučký', 'a\u0301', '漢字', '\u{1f9d1}\u200d\u{1f680}', '\u202eabc', '\ufffd', '\uffff'],
	...['\u{10ffff}', '"', '""', ...HOSTILE, 'x'.repeat(1_000), '"\\é'.repeat(10_000)],
]

/** A value and its form in the parsed JSON. */
type Pair = readonly [value: Value, wire: unknown]

const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, index) => index)
const MANY_BYTES = Uint8Array.from({ length: 3_000 }, (_, index) => (index * 7) % 251)

const JSON_TEXTS = [
	...['{}', '[]', 'true', 'false', '0', '-1.5', '""', '"text"', '"a\\"b\\\\c\\u0001\\n"', '[null]', '[[[]]]'],
	...['{"b":1,"a":[1,"2",null,{"c":true}],"":"empty"}', '{"__proto__":{"a":1},"constructor":2}'],
	'"\u2028 ž 漢 🚀"',
	...['{"a":"\'; drop table contract; --"}', '{"json":"{\\"a\\":1}"}', '[9007199254740991,0.1]'],
]

const VALUES: readonly (readonly [field: string, values: readonly (Value | Pair)[]])[] = [
	['title', TEXTS],
	['note', TEXTS.filter(({ length }) => length <= 1_000)],
	['order', [0, 1, -1, 2_147_483_647, -2_147_483_648]],
	['big', [0, -1, 9_007_199_254_740_991, -9_007_199_254_740_991]],
	['ratio', [0, 0.1, -0.1, 0.1 + 0.2, 1 / 3, 16_777_217, 1e21, -1e-7, 123456789.12345679]],
	['ratio', [1.797_693_134_862_315_7e308, 2.225_073_858_507_201_4e-308, 4e15 + 0.5]],
	['price', ['0.0000', '-0.0001', '12.5000', '1234567890123456.7891', '-9999999999999999.9999']],
	['done', [true, false]],
	['day', ['2026-11-20', '2024-02-29', '1970-01-01', '1000-01-01', '9999-12-31', '1969-12-31']],
	['clock', ['00:00:00', '13:45:00', '23:59:59']],
	['at', ['2026-11-20T13:45:00.123Z', '1970-01-01T00:00:00.000Z', '1000-01-01T00:00:00.000Z']],
	['at', ['1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z', '2024-02-29T12:00:00.500Z']],
	['at', [['2026-11-20T13:45:00Z', '2026-11-20T13:45:00.000Z']]],
	['at', [['2026-03-29T01:30:00.1Z', '2026-03-29T01:30:00.100Z']]],
	['token', ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']],
	['token', ['0189c7c2-7b1e-7c3e-9b1a-2f6d5f1c0a3b', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']],
	['extra', JSON_TEXTS.map((text): Pair => [new RawJson(text), JSON.parse(text)])],
	['data', [new Uint8Array(0), ALL_BYTES, MANY_BYTES].map((bytes): Pair => [bytes, base64(bytes)])],
]

const BIG: readonly bigint[] = [2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)]

export const VALUE_TESTS: readonly ModelTest[] = [
	...VALUES.map(([field, values], index) => keeps(field, values, index)),
	...tests({
		async 'every nullable field is null when given as null or not given'(fixture) {
			const names = fixture.fields.filter(({ nullable }) => nullable).map(({ name }) => name)
			const nulls = Object.fromEntries(names.map((name) => [name, null]))
			const ids = [await fixture.add(nulls), await fixture.add()]
			for (const id of ids) deepStrictEqual(await fixture.read(id, names), nulls)
		},
		async 'all fields of a record come back together'(fixture) {
			const seen = new Map<string, Pair>()
			for (const [field, values] of VALUES)
				if (fixture.has(field)) seen.set(field, pairOf(values.at(-1) ?? null))
			const values = Object.fromEntries([...seen].map(([field, [value]]) => [field, value]))
			const wire = Object.fromEntries(
				[...seen].map(([field, [, expected]]) => [field, asWritten(fixture, field, expected)]),
			)
			const names = [...seen.keys()]
			const id = await fixture.add(values)
			deepStrictEqual(await fixture.read(id, names), wire)
			deepStrictEqual(await fixture.list({ fields: names }), [wire])
		},
	}),
	...testsFor(['bigint'], {
		async 'a bigint beyond 2^53 keeps all its digits in the JSON'(fixture) {
			const quote = isText(fixture, 'big') ? '"' : ''
			for (const big of BIG) {
				const expected = `{"big":${quote}${big}${quote}}`
				const created = await fixture.model.create({ title: 't', big }, fixture.select(['big']))
				strictEqual(created.json.replaceAll(' ', ''), expected)
				const found = await fixture.model.read(created.id, fixture.select(['big']), undefined)
				strictEqual(found?.json.replaceAll(' ', ''), expected)
				const where = { op: 'eq', field: 'big', value: big } as const
				const { json } = await fixture.query({ fields: ['big'], where })
				strictEqual(json.replaceAll(' ', ''), `[${expected}]`)
			}
		},
	}),
	...testsFor(['timestamp', 'microseconds'], {
		async 'a timestamp is cut to milliseconds on the wire, not rounded'(fixture) {
			const id = await fixture.add({ at: '2026-11-20T13:45:00.123999Z' })
			strictEqual(await fixture.value(id, 'at'), '2026-11-20T13:45:00.123Z')
			await fixture.update(id, { at: '1969-12-31T23:59:59.999999Z' }, fixture.select(['at']))
			strictEqual(await fixture.value(id, 'at'), '1969-12-31T23:59:59.999Z')
		},
	}),
	...testsFor(['float', 'infinity'], {
		'infinities are written as texts': (fixture) =>
			keepsEach(fixture, 'ratio', [
				[Infinity, 'Infinity'],
				[-Infinity, '-Infinity'],
			]),
	}),
	...testsFor(['float', 'nan'], {
		'NaN is written as a text': (fixture) => keepsEach(fixture, 'ratio', [[Number.NaN, 'NaN']]),
	}),
	...testsFor(['bytes'], {
		async 'changing bytes after they were stored has no effect'(fixture) {
			const data = Uint8Array.of(1, 2, 3)
			const id = await fixture.add({ data })
			data.fill(9)
			strictEqual(await fixture.value(id, 'data'), 'AQID')
		},
	}),
]

function keeps(field: string, values: readonly (Value | Pair)[], index: number): ModelTest {
	const again = VALUES.slice(0, index).filter(([name]) => name === field).length
	return {
		name: `${field} keeps its values${again === 0 ? '' : `, part ${again + 1}`}`,
		needs: needsOf(field),
		run: (fixture) => keepsEach(fixture, field, values),
	}
}

/** Asserts that every method which returns a record returns each value. */
async function keepsEach(
	fixture: ModelFixture,
	field: string,
	values: readonly (Value | Pair)[],
): Promise<void> {
	const selection = fixture.select([field])
	const { model } = fixture
	const other = await fixture.add()
	for (const [value, expected] of values.map(pairOf)) {
		const wire = { [field]: asWritten(fixture, field, expected) }
		const created = await model.create({ title: 'a title', [field]: value }, selection)
		same(parsed(created), wire, 'create')
		const read = await model.read(created.id, selection, undefined)
		same(parsed(read), wire, 'read')
		const updated = await fixture.update(other, { [field]: value }, selection)
		same(parsed(updated), wire, 'update')
		same(await fixture.list({ fields: [field] }), [wire, wire], 'list')
		const deleted = await fixture.delete(created.id, selection)
		same(parsed(deleted), wire, 'delete')
	}
}

/** The expected value as the model writes it: a bigint is a text if the field has `asText`. */
function asWritten(fixture: ModelFixture, field: string, expected: unknown): unknown {
	return isText(fixture, field) ? String(expected) : expected
}

function isText({ model }: ModelFixture, field: string): boolean {
	return model.fields.find(({ name }) => name === field)?.asText === true
}

function pairOf(value: Value | Pair): Pair {
	return isPair(value) ? value : [value, value]
}

function isPair(value: Value | Pair): value is Pair {
	return Array.isArray(value)
}

/** Not imported from wire/: a module shared with other entries of the package would become one more file to load. */
function base64(bytes: Uint8Array): string {
	return Buffer.from(bytes).toString('base64')
}
