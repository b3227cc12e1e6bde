/** The model contract: a model's properties, the JSON of its records, and keys of other types. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { keyNames } from '../../models/key.ts'
import { atOnce } from '../case.ts'
import { type ModelFixture, type ModelTest, parsed, recordsOf, tests, testsFor } from './fixture.ts'
import { assertPages } from './pages.ts'
import { HOSTILE } from './values.ts'

/** Names that break JSON or SQL if inserted without escaping. */
const NAMES = ['createdAt', 'a"b', "a'b", 'a\\b', 'a\nb', '%s', '$1', '?', ':a', 'ключ', '__proto__']

export const FACT_TESTS: readonly ModelTest[] = [
	...tests({
		async 'the fields are those of the table, with type, null and default'({ model, fields }) {
			const found = new Map(model.fields.map((field) => [field.name, field]))
			deepStrictEqual([...found.keys()].toSorted(), fields.map(({ name }) => name).toSorted())
			for (const { name, type, nullable, hasDefault } of fields) {
				const field = found.get(name)
				const types = type === 'integer' ? ['integer', 'bigint'] : [type]
				ok(field !== undefined && types.includes(field.type), `${name} is ${field?.type}, not ${type}`)
				const flags = [field.nullable, field.hasDefault, field.generated]
				deepStrictEqual(flags, [nullable, hasDefault, false], name)
			}
		},
		async 'the key is id, the model has a name and is not read-only'({ model }) {
			strictEqual(keyNames(model).join(), 'id')
			ok(typeof model.name === 'string' && model.name !== '')
			strictEqual(model.readOnly, false)
		},
		async 'check resolves, also many times at once'({ model }) {
			strictEqual(await model.check?.(), undefined)
			await Promise.all(Array.from({ length: 100 }, () => model.check?.()))
		},
		async 'create returns the id, and the record with its defaults'(fixture) {
			const selection = fixture.select(['id', 'title', 'note', 'status', 'version'])
			const created = await fixture.model.create({ title: 'first' }, selection)
			strictEqual(typeof created.id, 'string')
			deepStrictEqual(parsed(created), {
				...{ id: Number(created.id), title: 'first', note: null, status: 'draft', version: 1 },
			})
			strictEqual(created.version, undefined)
			const second = await fixture.model.create({ title: 'second', status: 'done' }, selection)
			ok(Number(second.id) > Number(created.id), 'ids count up')
			strictEqual(parsed(second).status, 'done')
			deepStrictEqual(await fixture.read(created.id, ['title']), { title: 'first' })
		},
		async 'a record has only the selected fields, in their order and under the given names'(fixture) {
			const { model } = fixture
			const selection = {
				fields: ['status', 'id', 'title'],
				names: ['Status', 'ID', 'theTitle'],
				version: undefined,
			}
			const created = await model.create({ title: 't', note: 'hidden' }, selection)
			const id = Number(created.id)
			const expected = [
				['Status', 'draft'],
				['ID', id],
				['theTitle', 't'],
			]
			const read = await model.read(created.id, selection, undefined)
			const [listed = {}] = recordsOf(await fixture.query({}, selection))
			const updated = parsed(await fixture.update(created.id, { note: 'n' }, selection))
			const deleted = parsed(await fixture.delete(created.id, selection))
			for (const record of [parsed(created), parsed(read), listed, updated, deleted]) {
				deepStrictEqual(Object.entries(record), expected)
			}
		},
		async 'a name in the JSON may be any text'({ model }) {
			for (const name of NAMES) {
				const selection = { fields: ['title', 'note'], names: [name, 'note'], version: undefined }
				const { id, json } = await model.create({ title: 'its value' }, selection)
				const expected = [
					[name, 'its value'],
					['note', null],
				]
				deepStrictEqual(Object.entries(JSON.parse(json) as object), expected)
				const found = await model.read(id, selection, undefined)
				deepStrictEqual(Object.entries(parsed(found)), expected)
			}
		},
		async 'a field that is not selected can be ordered by and compared with'(fixture) {
			await fixture.addAll([
				{ title: 'b', order: 1 },
				{ title: 'a', order: 2 },
			])
			deepStrictEqual(await fixture.column({ order: ['-order'] }), ['a', 'b'])
			deepStrictEqual(await fixture.column({ where: { op: 'eq', field: 'order', value: 1 } }), ['b'])
		},
		async 'an id without a record reads as undefined'(fixture) {
			const id = await fixture.add()
			const selection = fixture.select(['id'])
			for (const missing of ['0', '-1', '2147483647', String(Number(id) + 1)]) {
				strictEqual(await fixture.model.read(missing, selection, undefined), undefined, missing)
			}
		},
	}),
	...testsFor(['maxLength'], {
		async 'a text with a maximum length reports it'({ model }) {
			strictEqual(model.fields.find(({ name }) => name === 'email')?.maxLength, 200)
		},
	}),
]

/** Ids that all stores distinguish: none differ only in case or trailing spaces. */
const TEXT_IDS = [
	...HOSTILE.filter((text) => text !== 'NULL' && !text.endsWith(' ') && !text.endsWith('\n')),
	...['a b', 'a/b', 'a?b=c&d', 'ž', '漢字', '\u{1f680}', 'x'.repeat(200), '00', '01'],
]

const BIG_IDS = ['9007199254740992', '9007199254740993', '9223372036854775806', '-9223372036854775808']

export const KEY_TESTS: readonly ModelTest[] = [
	...testsFor('text', {
		async 'a text may be the key, whatever its characters'(fixture) {
			for (const id of TEXT_IDS) {
				const created = await fixture.model.create(
					{ id, title: `title of ${id}` },
					fixture.select(['id', 'title']),
				)
				strictEqual(created.id, id)
				deepStrictEqual(parsed(created), { id, title: `title of ${id}` })
			}
			for (const id of TEXT_IDS)
				deepStrictEqual(await fixture.read(id, ['id', 'title']), { id, title: `title of ${id}` })
			await distinguishes(fixture, TEXT_IDS)
		},
		async 'a text key has no default, is required, and is compared exactly'(fixture) {
			const key = fixture.model.fields.find(({ name }) => name === 'id')
			deepStrictEqual([key?.type, key?.nullable, key?.hasDefault], ['text', false, false])
			await fixture.refuses(() => fixture.add({ title: 't' }), 'not_null', ['id'])
			await fixture.add({ id: 'a' })
			await fixture.refuses(() => fixture.add({ id: 'a' }), 'unique', ['id'])
			for (const id of ['b', "a'", 'a%', '%', '_', "' or '1'='1"]) {
				strictEqual(await fixture.model.read(id, fixture.select(['id']), undefined), undefined, id)
			}
		},
	}),
	...testsFor('uuid', {
		async 'a uuid key is random unless it is given, and is written in lower case'(fixture) {
			const made = await atOnce(10, () => fixture.add())
			strictEqual(new Set(made).size, 10)
			for (const id of made) {
				match(id, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
				strictEqual(await fixture.value(id, 'id'), id)
			}
			const given = '0189c7c2-7b1e-7c3e-9b1a-2f6d5f1c0a3b'
			strictEqual(await fixture.add({ id: given }), given)
			await fixture.refuses(() => fixture.add({ id: given }), 'unique', ['id'])
			for (const id of [...made, given]) await changesAndDeletes(fixture, id)
		},
		async 'pages by a uuid key visit every record once'(fixture) {
			await atOnce(9, () => fixture.add())
			for (const order of [['id'], ['-id']]) await assertPages(fixture, order, [5])
		},
	}),
	...testsFor('bigint', {
		async 'a bigint key beyond 2^53 is not confused with its neighbour'(fixture) {
			for (const id of BIG_IDS)
				strictEqual(await fixture.add({ id: BigInt(id), title: `title of ${id}` }), id)
			strictEqual(await fixture.model.read('9007199254740994', fixture.select(['id']), undefined), undefined)
			for (const order of [['id'], ['-id']]) {
				const all = await fixture.column({ order })
				const first = await fixture.query({ order, limit: 2 })
				const rest = await fixture.column({ order, after: fixture.after(first, order) })
				deepStrictEqual([...all.slice(0, 2), ...rest], all)
			}
			await distinguishes(fixture, BIG_IDS)
		},
	}),
]

/** Asserts that the ids of all records, titled after them, find, change and delete one record each. */
async function distinguishes(fixture: ModelFixture, ids: readonly string[]): Promise<void> {
	const titles = await Promise.all(ids.map((id) => fixture.value(id, 'title')))
	const expected = ids.map((id) => `title of ${id}`)
	deepStrictEqual(titles, expected)
	for (const id of ids) await changesAndDeletes(fixture, id)
	strictEqual(await fixture.model.count(undefined), 0)
}

/** Asserts that changing and deleting by this id affects this record only. */
async function changesAndDeletes(fixture: ModelFixture, id: string): Promise<void> {
	const before = await fixture.model.count(undefined)
	const updated = await fixture.update(id, { title: 'changed' }, fixture.select(['title']))
	deepStrictEqual(parsed(updated), { title: 'changed' })
	strictEqual(await fixture.model.count({ op: 'eq', field: 'title', value: 'changed' }), 1)
	ok(typeof (await fixture.delete(id)) === 'object')
	strictEqual(await fixture.model.count(undefined), before - 1)
}
