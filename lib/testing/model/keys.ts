/** The model contract: keys of other types. Their tables have `id` and `title`. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { type ModelScene, type ModelStage, NO_GUARD, parsed } from './stage.ts'
import { HOSTILE } from './texts.ts'

/** Ids that no store takes for the same: case and spaces at the end are left alone. */
const TEXT_IDS = [
	...HOSTILE.filter((text) => text !== 'NULL' && !text.endsWith(' ') && !text.endsWith('\n')),
	...['a b', 'a/b', 'a?b=c&d', 'ž', '漢字', '\u{1f680}', 'x'.repeat(200), '00', '01'],
]

const BIG_IDS = ['9007199254740992', '9007199254740993', '9223372036854775806', '-9223372036854775808']

export const KEY_SCENES: readonly ModelScene[] = [
	{
		name: 'a text may be the key, whatever its characters',
		key: 'text',
		async play(stage) {
			for (const id of TEXT_IDS) {
				const created = await stage.model.create(
					{ id, title: `title of ${id}` },
					stage.select(['id', 'title']),
				)
				strictEqual(created.id, id)
				deepStrictEqual(parsed(created), { id, title: `title of ${id}` })
			}
			for (const id of TEXT_IDS)
				deepStrictEqual(await stage.read(id, ['id', 'title']), { id, title: `title of ${id}` })
			const all = await Promise.all(TEXT_IDS.map((id) => stage.value(id, 'title')))
			deepStrictEqual(
				all,
				TEXT_IDS.map((id) => `title of ${id}`),
			)
			for (const id of TEXT_IDS) await changesAndDeletes(stage, id)
			strictEqual(await stage.model.count(undefined), 0)
		},
	},
	{
		name: 'a text key is in the fields without a default, is required, and is told apart from others',
		key: 'text',
		async play(stage) {
			const key = stage.model.fields.find(({ name }) => name === 'id')
			deepStrictEqual([key?.type, key?.nullable, key?.hasDefault], ['text', false, false])
			await stage.refuses(() => stage.add({ title: 't' }), 'not_null', ['id'])
			await stage.add({ id: 'a' })
			await stage.refuses(() => stage.add({ id: 'a' }), 'unique', ['id'])
			for (const id of ['b', "a'", 'a%', '%', '_', "' or '1'='1"]) {
				strictEqual(await stage.model.read(id, stage.select(['id']), undefined), undefined, id)
			}
		},
	},
	{
		name: 'a uuid key is random unless it is given, and is written in lower case',
		key: 'uuid',
		async play(stage) {
			const made = await Promise.all(Array.from({ length: 10 }, () => stage.add()))
			strictEqual(new Set(made).size, 10)
			for (const id of made) {
				match(id, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
				strictEqual(await stage.value(id, 'id'), id)
			}
			const given = '0189c7c2-7b1e-7c3e-9b1a-2f6d5f1c0a3b'
			strictEqual(await stage.add({ id: given }), given)
			await stage.refuses(() => stage.add({ id: given }), 'unique', ['id'])
			for (const id of [...made, given]) await changesAndDeletes(stage, id)
		},
	},
	{
		name: 'pages by a uuid key visit every record once',
		key: 'uuid',
		async play(stage) {
			await Promise.all(Array.from({ length: 9 }, () => stage.add()))
			for (const order of [['id'], ['-id']]) {
				const all = await stage.column({ order }, 'id')
				const first = await stage.ask({ fields: ['id'], order, limit: 5 })
				const rest = await stage.column({ order, after: stage.after(first, order) }, 'id')
				deepStrictEqual([...all.slice(0, 5), ...rest], all)
				strictEqual(new Set(all).size, 9)
			}
		},
	},
	{
		name: 'a bigint key beyond 2^53 is not taken for its neighbour',
		key: 'bigint',
		async play(stage) {
			for (const id of BIG_IDS) strictEqual(await stage.add({ id: BigInt(id), title: `title of ${id}` }), id)
			const titles = await Promise.all(BIG_IDS.map((id) => stage.value(id, 'title')))
			deepStrictEqual(
				titles,
				BIG_IDS.map((id) => `title of ${id}`),
			)
			strictEqual(await stage.model.read('9007199254740994', stage.select(['id']), undefined), undefined)
			for (const order of [['id'], ['-id']]) {
				const all = await stage.column({ order })
				const first = await stage.ask({ order, limit: 2 })
				const rest = await stage.column({ order, after: stage.after(first, order) })
				deepStrictEqual([...all.slice(0, 2), ...rest], all)
			}
			for (const id of BIG_IDS) await changesAndDeletes(stage, id)
			strictEqual(await stage.model.count(undefined), 0)
		},
	},
]

/** Asserts that the record of this id is changed and deleted, and no other. */
async function changesAndDeletes(stage: ModelStage, id: string): Promise<void> {
	const before = await stage.model.count(undefined)
	const updated = await stage.model.update(id, { title: 'changed' }, stage.select(['title']), NO_GUARD)
	deepStrictEqual(parsed(updated), { title: 'changed' })
	strictEqual(await stage.model.count({ op: 'eq', field: 'title', value: 'changed' }), 1)
	ok(typeof (await stage.model.delete(id, stage.select(['id']), NO_GUARD)) === 'object')
	strictEqual(await stage.model.count(undefined), before - 1)
}
