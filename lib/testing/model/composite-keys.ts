/** The model contract: keys of several fields, with records that share parts of their key. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { Value } from '../../models/model.ts'
import { joinId } from '../../wire/record-id.ts'
import { type ModelFixture, type ModelTest, not, parsed, testsFor } from './fixture.ts'
import { HOSTILE } from './values.ts'

type Key = readonly [day: string, tag: string, id: number]

const OWN: Key = ['2026-11-20', 'herb', 7]
const OTHER: Key = ['2026-11-21', 'tree', 8]
/** The record, and one that shares each proper part of its key: none of the fields, one of them, or two. */
const KEYS: readonly Key[] = Array.from({ length: 8 }, (_, parts) => [
	(parts & 4 ? OTHER : OWN)[0],
	(parts & 2 ? OTHER : OWN)[1],
	(parts & 1 ? OTHER : OWN)[2],
])
const FIELDS = ['day', 'tag', 'id', 'title'] as const

/** Texts that all stores distinguish, among them what separates and encodes the values of an id. */
const TAGS = [
	...HOSTILE.filter((text) => text !== 'NULL' && !text.endsWith(' ') && !text.endsWith('\n')),
	...['', ',', '%2C', 'a,b', 'a%2Cb', '.', '..', '/', 'ž', '漢字'],
]

function idOf(key: Key): string {
	return joinId(key.map(String))
}

function recordOf([day, tag, id]: Key): { day: string; tag: string; id: number; title: string } {
	return { day, tag, id, title: `title of ${day} ${tag} ${id}` }
}

async function addAll(fixture: ModelFixture, keys: readonly Key[] = KEYS): Promise<void> {
	for (const key of keys) await fixture.add(recordOf(key))
}

/** All records by the key, as `recordOf`. */
async function all(fixture: ModelFixture): Promise<unknown[]> {
	return fixture.list({ fields: FIELDS, order: ['day', 'tag', 'id'] })
}

export const COMPOSITE_KEY_TESTS: readonly ModelTest[] = testsFor('several', {
	async 'the key names its fields in order, and none of them is null'({ model }) {
		deepStrictEqual(model.key, ['day', 'tag', 'id'])
		for (const name of model.key) {
			const field = model.fields.find((one) => one.name === name)
			deepStrictEqual([field?.nullable, field?.hasDefault], [false, false], name)
		}
	},
	async 'the id of a key of several fields has their values, percent-encoded and joined by commas'(fixture) {
		const selection = fixture.select(FIELDS)
		for (const [at, tag] of TAGS.entries()) {
			const key: Key = ['2026-11-20', tag, at]
			const created = await fixture.model.create(recordOf(key), selection)
			strictEqual(created.id, `2026-11-20,${encodeURIComponent(tag)},${at}`)
			deepStrictEqual(parsed(created), recordOf(key))
		}
		for (const [at, tag] of TAGS.entries()) {
			const key: Key = ['2026-11-20', tag, at]
			deepStrictEqual(await fixture.read(idOf(key), FIELDS), recordOf(key), tag)
		}
	},
	async 'each record is read by its whole key, alone and many at once'(fixture) {
		await addAll(fixture)
		for (const key of KEYS) deepStrictEqual(await fixture.read(idOf(key), FIELDS), recordOf(key))
		const found = await Promise.all(KEYS.map((key) => fixture.read(idOf(key), FIELDS)))
		deepStrictEqual(found, KEYS.map(recordOf))
		const missing: Key[] = [
			['2026-11-22', 'herb', 7],
			['2026-11-20', 'bush', 7],
			['2026-11-20', 'herb', 9],
		]
		const selection = fixture.select(FIELDS)
		const none = await Promise.all(missing.map((key) => fixture.model.read(idOf(key), selection, undefined)))
		deepStrictEqual(none, [undefined, undefined, undefined])
	},
	async 'a read by a key of several fields respects its condition'(fixture) {
		await addAll(fixture)
		const selection = fixture.select(FIELDS)
		const where = { op: 'eq', field: 'title', value: recordOf(OWN).title } as const
		const read = (key: Key) => fixture.model.read(idOf(key), selection, where)
		const found = await Promise.all(KEYS.map(read))
		deepStrictEqual(
			found.map((record) => record !== undefined),
			KEYS.map((_, at) => at === 0),
		)
	},
	async 'update changes only the record with the whole key'(fixture) {
		for (const changed of KEYS) {
			await addAll(fixture)
			const updated = await fixture.update(idOf(changed), { title: 'changed' }, fixture.select(FIELDS))
			deepStrictEqual(parsed(updated), { ...recordOf(changed), title: 'changed' })
			const expected = KEYS.map((key) =>
				key === changed ? { ...recordOf(key), title: 'changed' } : recordOf(key),
			)
			deepStrictEqual(await all(fixture), expected)
			for (const key of KEYS) await fixture.delete(idOf(key), fixture.select(FIELDS))
		}
	},
	async 'delete deletes only the record with the whole key'(fixture) {
		for (const deleted of KEYS) {
			await addAll(fixture)
			deepStrictEqual(parsed(await fixture.delete(idOf(deleted), fixture.select(FIELDS))), recordOf(deleted))
			strictEqual(await fixture.delete(idOf(deleted), fixture.select(FIELDS)), 'missing')
			strictEqual(await fixture.update(idOf(deleted), { title: 'x' }, fixture.select(FIELDS)), 'missing')
			const rest = KEYS.filter((key) => key !== deleted)
			deepStrictEqual(await all(fixture), rest.map(recordOf))
			for (const key of rest) await fixture.delete(idOf(key), fixture.select(FIELDS))
		}
	},
	async 'a guard applies to the record with the whole key'(fixture) {
		await addAll(fixture)
		const where = not({ op: 'eq', field: 'title', value: recordOf(OWN).title })
		const selection = fixture.select(FIELDS)
		strictEqual(await fixture.update(idOf(OWN), { title: 'x' }, selection, { where }), 'missing')
		strictEqual(await fixture.delete(idOf(OWN), selection, { where }), 'missing')
		deepStrictEqual(await all(fixture), KEYS.map(recordOf))
	},
	async 'only the whole key is unique, and no part of it may be missing'(fixture) {
		await addAll(fixture)
		await fixture.refuses(() => fixture.add(recordOf(OWN)), 'unique', ['day', 'tag', 'id'])
		const { day, tag, id } = recordOf(['2026-12-24', 'new', 9])
		await fixture.refuses(() => fixture.add({ tag, id }), 'not_null', ['day'])
		await fixture.refuses(() => fixture.add({ day, id }), 'not_null', ['tag'])
		await fixture.refuses(() => fixture.add({ day, tag }), 'not_null', ['id'])
		deepStrictEqual(await all(fixture), KEYS.map(recordOf))
	},
	async 'pages by a key of several fields visit every record once, in any order'(fixture) {
		await addAll(fixture)
		const orders = [
			['day', 'tag', 'id'],
			['-day', '-tag', '-id'],
			['tag', '-day', 'id'],
			['title', 'day', 'tag', '-id'],
		]
		for (const order of orders) {
			const expected = await fixture.list({ fields: FIELDS, order })
			strictEqual(new Set(expected.map((record) => JSON.stringify(record))).size, KEYS.length)
			const visited: unknown[] = []
			let after: readonly Value[] | undefined
			do {
				const page = await fixture.query({ fields: FIELDS, order, limit: 3, after, total: true })
				strictEqual(page.total, KEYS.length)
				visited.push(...(JSON.parse(page.json) as unknown[]))
				after = fixture.after(page, order)
			} while (after !== undefined)
			deepStrictEqual(visited, expected, order.join())
			deepStrictEqual(
				await fixture.list({ fields: FIELDS, order, limit: 4, offset: 2 }),
				expected.slice(2, 6),
			)
		}
	},
	async 'a far or counted page of a key of several fields has all its records'(fixture) {
		const many = Array.from(
			{ length: 110 },
			(_, at): Key => ['2026-11-20', at % 2 === 0 ? 'herb' : 'tree', at],
		)
		await addAll(fixture, many)
		const order = ['tag', 'day', 'id']
		const page = await fixture.query({ fields: ['id'], order, limit: 9, offset: 101, total: true })
		deepStrictEqual(
			(JSON.parse(page.json) as { id: number }[]).map(({ id }) => id),
			Array.from({ length: 9 }, (_, at) => 93 + 2 * at),
		)
		strictEqual(page.total, 110)
		const empty = await fixture.query({ order, limit: 1, offset: 200, total: true })
		deepStrictEqual([empty.json, empty.next, empty.total], ['[]', undefined, 110])
	},
	async 'changes of a key of several fields are undone with their transaction'(fixture) {
		await addAll(fixture)
		const undo = new Error('undo')
		const work = fixture.transaction(async (within) => {
			await within.update(idOf(OWN), { title: 'changed' }, within.select(FIELDS))
			await within.delete(idOf(OTHER), within.select(FIELDS))
			await within.add(recordOf(['2026-12-24', 'herb', 7]))
			strictEqual((await within.read(idOf(OWN), FIELDS)).title, 'changed')
			throw undo
		})
		strictEqual(await work.catch((error: unknown) => error), undo)
		deepStrictEqual(await all(fixture), KEYS.map(recordOf))
	},
})
