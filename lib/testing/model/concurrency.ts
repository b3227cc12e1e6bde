/** The model contract: concurrency, large lists, and transactions. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { atOnce, same } from '../case.ts'
import { type ModelFixture, type ModelTest, parsed, recordsOf, tests } from './fixture.ts'

export const CROWD_TESTS: readonly ModelTest[] = tests({
	async 'each of 1,000 simultaneous reads and writes gets the right result'(fixture) {
		const ids = await atOnce(50, (order) => fixture.add({ title: `t${order}`, order }))
		const answers = await atOnce(1_000, (index) => callByIndex(fixture, ids, index))
		const wrong = answers.filter((answer) => answer !== undefined)
		deepStrictEqual(wrong, [])
		strictEqual(await fixture.model.count({ op: 'eq', field: 'status', value: 'new' }), 100)
		strictEqual(await fixture.model.count(undefined), 150)
	},
	async 'simultaneous reads of the same id, other ids, missing ids and other fields get their own results'(
		fixture,
	) {
		const [first = '', second = ''] = await fixture.addAll([{ title: 'a', note: 'x' }, { title: 'b' }])
		const [titles, notes] = [fixture.select(['title']), fixture.select(['note'])]
		const missing = String(Number(second) + 1)
		const reads = [
			[first, titles, { title: 'a' }],
			[first, titles, { title: 'a' }],
			[missing, titles, undefined],
			[second, titles, { title: 'b' }],
			[first, notes, { note: 'x' }],
			[second, notes, { note: null }],
			[missing, notes, undefined],
		] as const
		for (let round = 0; round < 10; round++) {
			await Promise.all(
				reads.map(async ([id, selection, expected]) => {
					const found = await fixture.model.read(id, selection, undefined)
					deepStrictEqual(found && parsed(found), expected)
				}),
			)
		}
	},
	async 'a read after an awaited write sees it, however many reads are in progress'(fixture) {
		const id = await fixture.add({ order: 0 })
		const selection = fixture.select(['order'])
		const background: Promise<unknown>[] = []
		for (let order = 1; order <= 100; order++) {
			for (let count = 0; count < 5; count++) background.push(fixture.model.read(id, selection, undefined))
			await fixture.update(id, { order }, selection)
			const [found, listed] = await Promise.all([fixture.value(id, 'order'), fixture.column({}, 'order')])
			deepStrictEqual([found, listed], [order, [order]])
		}
		await Promise.all(background)
		await fixture.delete(id, selection)
		strictEqual(await fixture.model.read(id, selection, undefined), undefined)
	},
	async 'a record can be read as soon as it is created, also among many'(fixture) {
		await atOnce(100, async (order) => {
			const id = await fixture.add({ order })
			strictEqual(await fixture.value(id, 'order'), order)
		})
	},
	async '100 records of 20 kB each are one complete list'(fixture) {
		const records = Array.from({ length: 100 }, (_, order) => ({
			...{ order, title: `${order} "\\é,\n`.padEnd(20_000, 'abc "\\\n},{') },
		}))
		for (let from = 0; from < 100; from += 10)
			await Promise.all(records.slice(from, from + 10).map((record) => fixture.add(record)))
		const query = { fields: ['order', 'title'], order: ['order'] }
		const listed = await fixture.query({ ...query, limit: 100, total: true })
		ok(listed.json.length > 2_000_000)
		same(recordsOf(listed), records)
		deepStrictEqual([listed.next, listed.total], [undefined, 100])
		const page = await fixture.query({ ...query, limit: 99 })
		strictEqual(recordsOf(page).length, 99)
		ok(page.next !== undefined)
	},
})

/** Makes one of four calls, chosen by the index. Returns the result if it is wrong, otherwise `undefined`. */
async function callByIndex(fixture: ModelFixture, ids: readonly string[], index: number): Promise<unknown> {
	const at = (index * 7) % ids.length
	const id = ids[at] ?? ''
	switch (index % 10) {
		case 0: {
			const created = await fixture.model.create(
				{ title: `n${index}`, status: 'new' },
				fixture.select(['title']),
			)
			const { title } = await fixture.read(created.id, ['title'])
			return title === `n${index}` ? undefined : [index, created, title]
		}
		case 1: {
			const updated = parsed(await fixture.update(id, { note: 'seen' }, fixture.select(['title', 'note'])))
			return updated.title === `t${at}` && updated.note === 'seen' ? undefined : [index, updated]
		}
		case 2: {
			const where = { op: 'eq', field: 'order', value: at } as const
			const found = await fixture.column({ where })
			return found.length === 1 && found[0] === `t${at}` ? undefined : [index, found]
		}
		default: {
			const { title } = await fixture.read(id, ['title'])
			return title === `t${at}` ? undefined : [index, title]
		}
	}
}

export const TRANSACTION_TESTS: readonly ModelTest[] = tests({
	async 'a transaction returns the result of its work, and its changes stay'(fixture) {
		const [changed = '', deleted = ''] = await fixture.addAll([{ title: 'a' }, { title: 'b' }])
		const id = await fixture.transaction(async (within) => {
			const created = await within.add({ title: 'c' })
			await within.update(changed, { title: 'changed' })
			await within.delete(deleted)
			return created
		})
		strictEqual(await fixture.value(id, 'title'), 'c')
		deepStrictEqual(await fixture.column(), ['changed', 'c'])
	},
	async 'a transaction whose work fails rejects with its error, and changes nothing'(fixture) {
		const [changed = '', deleted = ''] = await fixture.addAll([{ title: 'a' }, { title: 'b' }])
		const failure = new Error('no')
		const work = async (within: ModelFixture): Promise<void> => {
			await within.add({ title: 'c' })
			await within.update(changed, { title: 'changed' })
			await within.delete(deleted)
			throw failure
		}
		await rejects(fixture.transaction(work), (error: unknown) => error === failure)
		deepStrictEqual(await fixture.column(), ['a', 'b'])
		deepStrictEqual(await fixture.read(changed, ['title']), { title: 'a' })
		await fixture.add({ title: 'd' })
		deepStrictEqual(await fixture.column(), ['a', 'b', 'd'])
	},
	async 'a transaction that a constraint stops changes nothing, and rejects with that error'(fixture) {
		await fixture.add({ email: 'taken' })
		const work = async (within: ModelFixture): Promise<void> => {
			await within.add({ email: 'free' })
			await within.add({ email: 'taken' })
		}
		await fixture.refuses(() => fixture.transaction(work), 'unique', ['email'])
		deepStrictEqual(await fixture.column({}, 'email'), ['taken'])
		await fixture.add({ email: 'free' })
	},
	async 'a transaction reads what it has written, by every method'(fixture) {
		const old = await fixture.add({ title: 'old', note: 'x' })
		await fixture.transaction(async (within) => {
			const id = await within.add({ title: 'new', note: 'x' })
			await within.update(old, { title: 'changed' })
			deepStrictEqual(await within.read(id, ['title']), { title: 'new' })
			deepStrictEqual(await within.read(old, ['title']), { title: 'changed' })
			deepStrictEqual(await within.column(), ['changed', 'new'])
			strictEqual(await within.model.count({ op: 'eq', field: 'note', value: 'x' }), 2)
			strictEqual((await within.query({ limit: 1, total: true })).total, 2)
			deepStrictEqual(parsed(await within.delete(id, within.select(['title']))), { title: 'new' })
			strictEqual(await within.model.count(undefined), 1)
			strictEqual(await within.model.read(id, within.select(['id']), undefined), undefined)
		})
		deepStrictEqual(await fixture.column(), ['changed'])
	},
	async 'writes of a failed transaction are never seen by others'(fixture) {
		const id = await fixture.add({ title: 'before' })
		// Not awaited within the transaction: a store may block these reads until it ends.
		const seen: Promise<unknown>[] = []
		const work = async (within: ModelFixture): Promise<void> => {
			await within.add({ title: 'new' })
			await within.update(id, { title: 'changed' })
			seen.push(fixture.model.count(undefined), fixture.value(id, 'title'), fixture.column())
			await within.list()
			throw new Error('no')
		}
		await rejects(fixture.transaction(work), /^Error: no$/)
		deepStrictEqual(await Promise.all(seen), [1, 'before', ['before']])
	},
	async 'writes of a transaction become visible to others together'(fixture) {
		const seen: Promise<number>[] = []
		await fixture.transaction(async (within) => {
			for (let index = 0; index < 3; index++) {
				await within.add()
				seen.push(fixture.model.count(undefined))
			}
		})
		for (const count of await Promise.all(seen)) ok(count === 0 || count === 3, `${count} of 3 were seen`)
		strictEqual(await fixture.model.count(undefined), 3)
	},
	async 'simultaneous calls within a transaction get the right results'(fixture) {
		const old = await fixture.add({ order: 0 })
		const answers = await fixture.transaction((within) =>
			atOnce(20, async (index) => {
				const id = await within.add({ order: index + 1 })
				return Promise.all([within.value(id, 'order'), within.value(old, 'order')])
			}),
		)
		const orders = Array.from({ length: 20 }, (_, index) => index + 1)
		const pairs = orders.map((order) => [order, 0])
		deepStrictEqual(answers, pairs)
		deepStrictEqual(await fixture.column({ order: ['order'] }, 'order'), [0, ...orders])
	},
	async 'a record that a transaction has locked is changed by others after its end'(fixture) {
		if (fixture.model.lock === undefined) return
		const id = await fixture.add({ order: 0 })
		const selection = fixture.select(['order'])
		let other: Promise<unknown> | undefined
		await fixture.transaction(async (within) => {
			const found = await within.model.lock?.(id, selection, undefined)
			deepStrictEqual(found && parsed(found), { order: 0 })
			const missing = await within.model.lock?.(id, selection, { op: 'eq', field: 'order', value: 1 })
			strictEqual(missing, undefined)
			other = fixture.update(id, { order: 2 })
			other.catch(() => {})
			// Time for the other change to overtake, if it can.
			for (let count = 0; count < 20; count++) await within.read(id, ['order'])
			await within.update(id, { order: 1 })
		})
		await other
		deepStrictEqual(await fixture.read(id, ['order']), { order: 2 })
	},
	async 'many simultaneous transactions all take effect'(fixture) {
		await atOnce(20, (order) =>
			fixture.transaction(async (within) => {
				await within.add({ order })
				await within.add({ order })
			}),
		)
		const pairs = Array.from({ length: 40 }, (_, index) => Math.floor(index / 2))
		deepStrictEqual(await fixture.column({ order: ['order'] }, 'order'), pairs)
	},
})
