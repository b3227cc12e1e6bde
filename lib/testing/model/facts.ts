/** The model contract: what a model says of itself, and how a record's JSON is put together. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { type ModelScene, NO_GUARD, parsed, recordsOf } from './stage.ts'

/** Names of JSON that break a text they are put into without care. */
const NAMES = ['createdAt', 'a"b', "a'b", 'a\\b', 'a\nb', '%s', '$1', '?', ':a', 'ключ', '__proto__']

export const FACT_SCENES: readonly ModelScene[] = [
	{
		name: 'the fields are those of the table, with type, null and default',
		async play({ model, fields }) {
			const found = new Map(model.fields.map((field) => [field.name, field]))
			deepStrictEqual([...found.keys()].toSorted(), fields.map(({ name }) => name).toSorted())
			for (const { name, type, nullable, hasDefault } of fields) {
				const field = found.get(name)
				const types = type === 'integer' ? ['integer', 'bigint'] : [type]
				ok(field !== undefined && types.includes(field.type), `${name} is ${field?.type}, not ${type}`)
				deepStrictEqual(
					[field.nullable, field.hasDefault, field.generated],
					[nullable, hasDefault, false],
					name,
				)
			}
		},
	},
	{
		name: 'the key is id, the model has a name and is not read-only',
		async play({ model }) {
			strictEqual(model.key, 'id')
			ok(typeof model.name === 'string' && model.name !== '')
			strictEqual(model.readOnly, false)
		},
	},
	{
		name: 'a store that can be asked for a sign of life gives one',
		async play({ model }) {
			strictEqual(await model.check?.(), undefined)
			await Promise.all(Array.from({ length: 100 }, () => model.check?.()))
		},
	},
	{
		name: 'a text that has a greatest length says so',
		needs: ['maxLength'],
		async play({ model }) {
			strictEqual(model.fields.find(({ name }) => name === 'email')?.maxLength, 200)
		},
	},
	{
		name: 'create answers the id, and the record with its defaults',
		async play(stage) {
			const selection = stage.select(['id', 'title', 'note', 'status', 'version'])
			const created = await stage.model.create({ title: 'first' }, selection)
			strictEqual(typeof created.id, 'string')
			deepStrictEqual(parsed(created), {
				...{ id: Number(created.id), title: 'first', note: null, status: 'draft', version: 1 },
			})
			strictEqual(created.version, undefined)
			const second = await stage.model.create({ title: 'second', status: 'done' }, selection)
			ok(Number(second.id) > Number(created.id), 'ids count up')
			strictEqual(parsed(second).status, 'done')
			deepStrictEqual(await stage.read(created.id, ['title']), { title: 'first' })
		},
	},
	{
		name: 'a record has the selected fields alone, in their order, by the names that were given',
		async play({ model }) {
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
			const order = [{ field: 'id', descending: false }]
			const query = {
				selection,
				where: undefined,
				order,
				limit: 1,
				offset: 0,
				after: undefined,
				total: false,
			}
			const read = await model.read(created.id, selection, undefined)
			ok(read !== undefined)
			const [listed = {}] = recordsOf(await model.list(query))
			const updated = parsed(await model.update(created.id, { note: 'n' }, selection, NO_GUARD))
			const deleted = parsed(await model.delete(created.id, selection, NO_GUARD))
			for (const record of [parsed(created), parsed(read), listed, updated, deleted]) {
				deepStrictEqual(Object.entries(record), expected)
			}
		},
	},
	{
		name: 'a name of the JSON may be any text',
		async play({ model }) {
			for (const name of NAMES) {
				const selection = { fields: ['title', 'note'], names: [name, 'note'], version: undefined }
				const { id, json } = await model.create({ title: 'its value' }, selection)
				const expected = [
					[name, 'its value'],
					['note', null],
				]
				deepStrictEqual(Object.entries(JSON.parse(json) as object), expected)
				const found = await model.read(id, selection, undefined)
				ok(found !== undefined)
				deepStrictEqual(Object.entries(parsed(found)), expected)
			}
		},
	},
	{
		name: 'a field that is not selected can be ordered by and compared with',
		async play(stage) {
			await stage.addAll([
				{ title: 'b', order: 1 },
				{ title: 'a', order: 2 },
			])
			deepStrictEqual(await stage.list({ fields: ['title'], order: ['-order'] }), [
				{ title: 'a' },
				{ title: 'b' },
			])
			const where = { op: 'eq', field: 'order', value: 1 } as const
			deepStrictEqual(await stage.list({ fields: ['title'], where }), [{ title: 'b' }])
		},
	},
	{
		name: 'an id that there is no record of reads as undefined',
		async play(stage) {
			const id = await stage.add()
			const selection = stage.select(['id'])
			for (const missing of ['0', '-1', '2147483647', String(Number(id) + 1)]) {
				strictEqual(await stage.model.read(missing, selection, undefined), undefined, missing)
			}
		},
	},
]
