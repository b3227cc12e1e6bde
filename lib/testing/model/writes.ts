/** The model contract: `update`, `delete` and their guards. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { type Changes, DEFAULT, type Guard, NOW } from '../../models/model.ts'
import { atOnce } from '../case.ts'
import { type ModelTest, parsed, tests } from './fixture.ts'

/** Clocks of a store and of this process may differ by this many milliseconds. */
const MAX_DIFFERENCE = 600_000
const KEPT = ['title', 'note', 'order', 'status', 'email']

export const WRITE_TESTS: readonly ModelTest[] = tests({
	async 'update changes only the given fields, and returns the new record'(fixture) {
		const [id = '', other = ''] = await fixture.addAll([
			{ title: 'one', note: 'n', order: 1, email: 'one' },
			{ title: 'two' },
		])
		const before = await fixture.read(other, KEPT)
		const updated = await fixture.update(id, { note: 'new' }, fixture.select(KEPT))
		const expected = { title: 'one', note: 'new', order: 1, status: 'draft', email: 'one' }
		deepStrictEqual(parsed(updated), expected)
		deepStrictEqual(await fixture.read(id, KEPT), expected)
		deepStrictEqual(await fixture.read(other, KEPT), before)
	},
	async 'update takes several fields, null and DEFAULT'(fixture) {
		const id = await fixture.add({ note: 'n', order: 1, status: 'done', version: 7 })
		const changes = { title: 'new', note: null, order: -1, status: DEFAULT, version: DEFAULT } as const
		const fields = ['title', 'note', 'order', 'status', 'version']
		const updated = await fixture.update(id, changes, fixture.select(fields))
		deepStrictEqual(parsed(updated), { title: 'new', note: null, order: -1, status: 'draft', version: 1 })
	},
	async 'NOW is the current time, in creates and updates, if the model takes it'(fixture) {
		if (fixture.model.setsNow !== true || !fixture.has('at')) return
		const isRecent = (at: unknown) => {
			const difference = Math.abs(Date.parse(String(at)) - Date.now())
			ok(difference < MAX_DIFFERENCE, `NOW is ${String(at)}, far from this process's time`)
		}
		const id = await fixture.add({ title: 'a', at: NOW, note: 'n' })
		isRecent(await fixture.value(id, 'at'))
		const given: Changes[] = [{ at: NOW }, { note: 'm', at: NOW, order: 3 }]
		for (const changes of given) {
			await fixture.update(id, { at: '2001-02-03T04:05:06.000Z' })
			isRecent(parsed(await fixture.update(id, changes, fixture.select(['at']))).at)
		}
		deepStrictEqual(await fixture.read(id, ['title', 'note', 'order']), { title: 'a', note: 'm', order: 3 })
	},
	async 'an update to the present values finds the record'(fixture) {
		const id = await fixture.add({ title: 'same', note: 'same' })
		const changes = { title: 'same', note: 'same' }
		for (let round = 0; round < 2; round++) {
			const updated = await fixture.update(id, changes, fixture.select(['title']))
			deepStrictEqual(parsed(updated), { title: 'same' })
		}
	},
	async 'the version begins at its default, is returned, and is incremented by every update'(fixture) {
		const selection = fixture.select(['title', 'version'], 'version')
		const created = await fixture.model.create({ title: 'a' }, selection)
		strictEqual(created.version, '1')
		strictEqual((await fixture.model.read(created.id, selection, undefined))?.version, '1')
		for (const version of [2, 3]) {
			const updated = await fixture.update(created.id, { title: 'b' }, selection)
			deepStrictEqual(parsed(updated), { title: 'b', version })
			ok(typeof updated === 'object')
			strictEqual(updated.version, String(version))
		}
		const read = await fixture.model.read(created.id, selection, undefined)
		deepStrictEqual([read?.version, read && parsed(read).version], ['3', 3])
		const deleted = await fixture.delete(created.id, selection)
		deepStrictEqual([parsed(deleted).version, typeof deleted === 'object' && deleted.version], [3, '3'])
	},
	async 'the version may be a field that is not selected, and is left alone if none is named'(fixture) {
		const id = await fixture.add()
		const updated = await fixture.update(id, { note: 'a' }, fixture.select(['note'], 'version'))
		deepStrictEqual(updated, { json: typeof updated === 'object' ? updated.json : '', version: '2' })
		deepStrictEqual(parsed(updated), { note: 'a' })
		await fixture.update(id, { note: 'b' }, fixture.select(['note']))
		strictEqual(await fixture.value(id, 'version'), 2)
	},
	async 'an update increments the version, whatever value it is given for it'(fixture) {
		const selection = fixture.select(['title', 'version'], 'version')
		const id = await fixture.add({ version: 5 })
		const given: Changes[] = [{ version: 99 }, { version: 1 }, { version: DEFAULT }, { version: 6 }]
		for (const [at, ignored] of given.entries()) {
			const changes = { title: `${at}`, ...ignored }
			const guard = { version: `${5 + at}` }
			const updated = await fixture.update(id, changes, selection, guard)
			deepStrictEqual(parsed(updated), { title: `${at}`, version: 6 + at })
		}
	},
	async 'a record of another version is stale, and stays as it is'(fixture) {
		const id = await fixture.add({ note: 'kept' })
		const selection = fixture.select(['note', 'version'], 'version')
		for (const version of ['0', '2', '10', '9007199254740991']) {
			const guard = { version }
			strictEqual(await fixture.update(id, { note: 'lost' }, selection, guard), 'stale', version)
			strictEqual(await fixture.delete(id, selection, guard), 'stale', version)
		}
		deepStrictEqual(await fixture.read(id, ['note', 'version']), { note: 'kept', version: 1 })
		const guard = { version: '1' }
		const updated = await fixture.update(id, { note: 'new' }, selection, guard)
		deepStrictEqual(parsed(updated), { note: 'new', version: 2 })
		strictEqual(await fixture.delete(id, selection, guard), 'stale')
		ok(typeof (await fixture.delete(id, selection, { version: '2' })) === 'object')
		strictEqual(await fixture.model.count(undefined), 0)
	},
	async 'a record that does not exist is missing, whatever the version'(fixture) {
		const id = await fixture.add()
		const missing = String(Number(id) + 1)
		const selection = fixture.select(['id'], 'version')
		for (const version of [undefined, '1']) {
			strictEqual(await fixture.update(missing, { note: 'n' }, selection, { version }), 'missing')
			strictEqual(await fixture.delete(missing, selection, { version }), 'missing')
		}
		strictEqual(await fixture.model.count(undefined), 1)
	},
	async 'a record outside the condition is missing, whatever its version'(fixture) {
		const id = await fixture.add({ order: 1, note: 'kept' })
		const selection = fixture.select(['note'], 'version')
		const outside = { op: 'eq', field: 'order', value: 2 } as const
		const unknown = { op: 'ne', field: 'email', value: 'x' } as const
		for (const where of [outside, unknown]) {
			for (const version of [undefined, '1', '2']) {
				strictEqual(await fixture.update(id, { note: 'lost' }, selection, { where, version }), 'missing')
				strictEqual(await fixture.delete(id, selection, { where, version }), 'missing')
			}
		}
		strictEqual(await fixture.value(id, 'note'), 'kept')
		const inside: Guard = { where: { op: 'eq', field: 'order', value: 1 }, version: '1' }
		deepStrictEqual(parsed(await fixture.update(id, { order: 2 }, selection, inside)), { note: 'kept' })
		strictEqual(await fixture.delete(id, selection, inside), 'missing')
		ok(typeof (await fixture.delete(id, selection, { where: outside, version: '2' })) === 'object')
	},
	async 'of many simultaneous updates of the same version one succeeds'(fixture) {
		const id = await fixture.add({ order: 0 })
		const selection = fixture.select(['order'], 'version')
		const answers = await atOnce(20, (index) =>
			fixture.update(id, { order: index + 1 }, selection, { version: '1' }),
		)
		const done = answers.filter((answer) => typeof answer === 'object')
		deepStrictEqual([done.length, answers.filter((answer) => answer === 'stale').length], [1, 19])
		deepStrictEqual(await fixture.read(id, ['order']), parsed(done[0] ?? 'missing'))
	},
	async 'of many simultaneous deletions one gets the record'(fixture) {
		const id = await fixture.add({ title: 'once' })
		const selection = fixture.select(['title'])
		const answers = await atOnce(10, () => fixture.delete(id, selection))
		strictEqual(answers.filter((answer) => answer === 'missing').length, 9)
		strictEqual(answers.filter((answer) => typeof answer === 'object').length, 1)
	},
	async 'delete returns the record as it was, and then it is gone'(fixture) {
		const [id = '', other = ''] = await fixture.addAll([{ title: 'gone', note: 'n' }, { title: 'stays' }])
		const deleted = await fixture.delete(id, fixture.select(['id', 'title', 'note']))
		deepStrictEqual(parsed(deleted), { id: Number(id), title: 'gone', note: 'n' })
		const selection = fixture.select(['id'])
		strictEqual(await fixture.model.read(id, selection, undefined), undefined)
		strictEqual(await fixture.delete(id, selection), 'missing')
		strictEqual(await fixture.update(id, { note: 'n' }, selection), 'missing')
		deepStrictEqual(await fixture.column(), ['stays'])
		deepStrictEqual(await fixture.read(other, ['title']), { title: 'stays' })
		const next = await fixture.add()
		ok(next !== other, 'an id is not given twice')
	},
})
