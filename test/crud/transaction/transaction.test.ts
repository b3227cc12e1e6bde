/** `transaction`: several models and handlers, hand-written SQL, savepoints, and models of different databases, on all stores. */
import * as assert from 'uvu/assert'
import { CrudHandler, MemoryModel, type Model, ModelError, transaction } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { refusal, rejected } from './asked.ts'
import { type Desk, desksHere } from './desks.ts'

const ID = { fields: ['id'], names: ['id'], version: undefined }
const NO_GUARD = { where: undefined, version: undefined }
const kinds = await desksHere()

async function counted({ orders, items }: Desk): Promise<readonly number[]> {
	return [await orders.count(undefined), await items.count(undefined)]
}

async function order(model: Model, note: string): Promise<number> {
	return Number((await model.create({ note }, ID)).id)
}

for (const { name, isPooled, isKilled, open } of kinds) {
	describe(`transactions over models by ${name}`, (test) => {
		const isPostgres = ['pg', 'postgres.js', 'PGlite'].includes(name)
		let desk: Desk
		test.before(async () => {
			desk = await open()
		})
		test.before.each(async () => {
			await desk.items.transaction(async (items) => {
				const { json } = await items.list({
					...{ selection: ID, where: undefined, order: [{ field: 'id', descending: false }] },
					...{ limit: 100, offset: 0, after: undefined, total: false },
				})
				for (const { id } of JSON.parse(json)) await items.delete(String(id), ID, NO_GUARD)
			})
			const { json } = await desk.orders.list({
				...{ selection: ID, where: undefined, order: [{ field: 'id', descending: false }] },
				...{ limit: 100, offset: 0, after: undefined, total: false },
			})
			for (const { id } of JSON.parse(json)) await desk.orders.delete(String(id), ID, NO_GUARD)
		})
		test.after(() => desk.close())

		test('what all models have changed is committed together, and the result is returned', async () => {
			const { orders, items } = desk
			const result = await transaction([orders, items], async ([inOrders, inItems]) => {
				const id = await order(inOrders, 'a')
				await inItems.create({ order_id: id, product: 'sage' }, ID)
				assert.is(await inItems.count(undefined), 1)
				return ['result', id]
			})
			assert.is(result[0], 'result')
			assert.equal(await counted(desk), [1, 1])
		})

		test('an error of the work rolls back all models, and is thrown as it is', async () => {
			const { orders, items } = desk
			const failure = new Error('no')
			const work = transaction([items, orders], async ([inItems, inOrders]) => {
				const id = await order(inOrders, 'a')
				await inItems.create({ order_id: id, product: 'sage' }, ID)
				throw failure
			})
			assert.is(await rejected(work), failure)
			assert.equal(await counted(desk), [0, 0])
		})

		test('a constraint of one model rolls back the other', async () => {
			const { orders, items } = desk
			await order(orders, 'taken')
			const work = transaction([items, orders], async ([, inOrders]) => {
				await order(inOrders, 'free')
				await order(inOrders, 'taken')
			})
			const error = await refusal(work)
			assert.equal([error.kind, error.fields], ['unique', ['note']])
			assert.equal(await counted(desk), [1, 0])
		})

		test('a foreign key sees the other model of the transaction', async () => {
			const { orders, items } = desk
			const id = await order(orders, 'kept')
			const other = await order(orders, 'deleted')
			const work = transaction([orders, items], async ([inOrders, inItems]) => {
				await inOrders.delete(String(other), ID, NO_GUARD)
				await inItems.create({ order_id: id, product: 'sage' }, ID)
				await inItems.create({ order_id: other, product: 'sage' }, ID)
			})
			const error = await rejected(work)
			assert.ok(error instanceof ModelError && error.kind === 'foreign_key', String(error))
			assert.equal(await counted(desk), [2, 0])
		})

		test('a nested transaction is a savepoint', async () => {
			const { orders, items } = desk
			await transaction([orders, items], async (outer) => {
				const id = await order(outer[0], 'outer')
				const failed = transaction(outer, async ([inOrders, inItems]) => {
					await order(inOrders, 'inner')
					await inItems.create({ order_id: id, product: 'sage' }, ID)
					assert.is(await inOrders.count(undefined), 2)
					throw new Error('only this')
				})
				assert.is(String(await rejected(failed)), 'Error: only this')
				await transaction([outer[1]], ([inItems]) => inItems.create({ order_id: id, product: 'thyme' }, ID))
			})
			assert.equal(await counted(desk), [1, 1])
		})

		test('nested transactions at once take turns, and what is outside of them waits', async () => {
			const { orders } = desk
			const ends = await transaction([orders], async (outer) => {
				const [inOrders] = outer
				const nested = ['a', 'b', 'a'].map((note) =>
					transaction(outer, async ([inner]) => {
						await order(inner, `${note} 1`)
						await order(inner, `${note} 2`)
					}),
				)
				const all = await Promise.allSettled([...nested, order(inOrders, 'c')])
				return all.map(({ status }) => status)
			})
			assert.equal(ends, ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
			assert.equal(await counted(desk), [5, 0])
		})

		test('one that is not awaited is part of the transaction as a whole, or refused', async () => {
			const { orders } = desk
			const failures: unknown[] = []
			await transaction([orders], async (outer) => {
				await order(outer[0], 'outer')
				const forgotten = transaction(outer, async ([inner]) => {
					for (const note of ['a', 'b', 'c']) await order(inner, note)
				})
				forgotten.catch((error) => failures.push(error))
			})
			await new Promise((resolve) => setTimeout(resolve, 50))
			const [count] = await counted(desk)
			assert.ok(failures.length === 0 ? count === 4 : count === 1, `${count} ${failures}`)
			for (const failure of failures) assert.match(String(failure), 'this transaction has ended')
		})

		test('an error of an operation that is not awaited rolls back if the database refuses further statements', async () => {
			const { orders } = desk
			await order(orders, 'taken')
			const failed: unknown[] = []
			const work = transaction([orders], async ([inOrders]) => {
				await order(inOrders, 'a')
				order(inOrders, 'taken').catch((error) => failed.push(error))
				return 'done'
			})
			if (isPostgres) assert.is((await refusal(work)).kind, 'unique')
			else assert.is(await work, 'done')
			assert.is(failed.length, 1)
			assert.equal(await counted(desk), [isPostgres ? 1 : 2, 0])
		})

		test('after an error of the outer one, a nested one does not continue', async () => {
			const single = isPooled ? await open(1) : desk
			try {
				const { orders } = single
				const before = await orders.count(undefined)
				let go = (): void => {}
				const waiting = new Promise<void>((resolve) => {
					go = resolve
				})
				let isBegun = false
				let late: Promise<unknown> = Promise.resolve()
				const failing = transaction([orders], async (outer) => {
					late = transaction(outer, async ([inner]) => {
						await order(inner, 'lost')
						isBegun = true
						await waiting
						await order(inner, 'late')
					})
					late.catch(() => {})
					await until(() => isBegun, 'nested')
					throw new Error('no')
				})
				assert.is(String(await rejected(failing)), 'Error: no')
				// By now the connection is in another transaction.
				await transaction([orders], async ([inOrders]) => {
					await order(inOrders, 'one')
					go()
					assert.match(String(await rejected(late)), 'this transaction has ended')
					await order(inOrders, 'two')
				})
				assert.is(await orders.count(undefined), before + 2)
			} finally {
				if (single !== desk) await single.close()
			}
		})

		test('a model outside of a transaction is refused within it', async () => {
			const { orders, items } = desk
			const error = await rejected(
				transaction([orders, items], ([inOrders]) => transaction([inOrders, items], async () => {})),
			)
			assert.instance(error, TypeError)
			assert.match(
				String(error),
				`transaction(): ${items.name} can't be in one transaction with ${orders.name}`,
			)
		})

		test('models of another database, and what is no model, are refused by name', async () => {
			const other = new CrudHandler(new MemoryModel('other', { fields: { id: 'integer' }, key: 'id' }), {
				visible: 'all',
			})
			if (name !== 'memory') {
				const message = String(await rejected(transaction([desk.orders, other], async () => {})))
				assert.match(
					message,
					`TypeError: transaction(): CrudHandler of other can't be in one transaction with ${desk.orders.name}`,
				)
			}
			for (const [wrong, message] of [
				[[desk.orders, 'x'], 'got a string at index 1'],
				[[Promise.resolve(desk.orders)], 'got a promise: await its open() first at index 0'],
				[[], 'takes a list of models'],
				[desk.orders, 'takes a list of models'],
			] as const) {
				const error = await rejected(transaction(wrong as unknown as [Model], async () => {}))
				assert.instance(error, TypeError)
				assert.match(String(error), message)
			}
		})

		test('a model used after the end is refused', async () => {
			const used = await transaction([desk.orders, desk.items], async (all) => all)
			for (const model of used) {
				const error = await rejected(model.count(undefined))
				assert.instance(error, TypeError)
				assert.match(String(error), 'this transaction has ended')
			}
		})

		test('many at once all take effect, without waiting for each other in a circle', async () => {
			const { orders, items } = desk
			const one = (at: number) => {
				const create = async (inOrders: Model, inItems: Model) => {
					const id = await order(inOrders, `n${at}`)
					await inItems.create({ order_id: id, product: 'sage' }, ID)
				}
				return at % 2 === 0
					? transaction([orders, items], ([inOrders, inItems]) => create(inOrders, inItems))
					: transaction([items, orders], ([inItems, inOrders]) => create(inOrders, inItems))
			}
			await Promise.all(Array.from({ length: 30 }, (_, at) => one(at)))
			assert.equal(await counted(desk), [30, 30])
		})

		if (name === 'memory') {
			test('there is no connection', () =>
				transaction([desk.orders], async (_, connection) => assert.is(connection, undefined)))
			return
		}

		test('a nested one that uses the outer models fails, and nothing of it is done later', async () => {
			const own = await open(undefined, 1)
			try {
				await transaction([own.orders], async (outer) => {
					const nested = transaction(outer, async ([inner]) => {
						await order(inner, 'inner')
						await order(outer[0], 'outer')
					})
					assert.is((await refusal(nested)).kind, 'unavailable')
				})
				assert.equal(await counted(own), [0, 0])
			} finally {
				await own.close()
			}
		})

		test('SQL by hand is part of the transaction', async () => {
			const { orders, items, tables, byHand } = desk
			const work = (fails: boolean) =>
				transaction([orders, items], async ([inOrders], connection) => {
					await order(inOrders, 'by the model')
					await byHand?.(connection, `insert into ${tables.order} (note) values ('by hand')`)
					assert.is(await inOrders.count(undefined), 2)
					if (fails) throw new Error('no')
				})
			await rejected(work(true))
			assert.equal(await counted(desk), [0, 0])
			await work(false)
			assert.equal(await counted(desk), [2, 0])
		})

		test('an error of hand-written SQL, even if caught, rolls back if the database refuses further statements', async () => {
			const { orders, tables, byHand } = desk
			await order(orders, 'taken')
			const insert = `insert into ${tables.order} (note) values ('taken')`
			const thrown = await refusal(
				transaction([orders], async ([inOrders], connection) => {
					await order(inOrders, 'lost')
					await byHand?.(connection, insert)
				}),
			)
			assert.equal([thrown.kind, thrown.fields], ['unique', []])
			const caught = transaction([orders], async ([inOrders], connection) => {
				await order(inOrders, 'free')
				await byHand?.(connection, insert).catch(() => {})
			})
			if (isPostgres) assert.is(((await rejected(caught)) as ModelError).kind, 'unique')
			else await caught
			const goingOn = transaction([orders], async ([inOrders], connection) => {
				await byHand?.(connection, insert).catch(() => {})
				await byHand?.(connection, insert).catch(() => {})
				await order(inOrders, 'after')
			})
			if (name === 'postgres.js')
				assert.match(String(await rejected(goingOn)), 'TypeError: a statement by hand has failed')
			else if (isPostgres) assert.is(((await rejected(goingOn)) as ModelError).kind, 'unique')
			else await goingOn
			const own = transaction([orders], async ([inOrders]) => {
				await order(inOrders, 'taken').catch(() => {})
				await order(inOrders, 'taken').catch(() => {})
				await order(inOrders, 'last')
			})
			if (isPostgres) assert.is(((await rejected(own)) as ModelError).kind, 'unique')
			else await own
			assert.equal(await counted(desk), [isPostgres ? 1 : 4, 0])
		})

		test('an error of hand-written SQL that is not awaited rolls back if the database refuses further statements', async () => {
			const { orders, tables, byHand } = desk
			await order(orders, 'taken')
			const work = transaction([orders], async ([inOrders], connection) => {
				await order(inOrders, 'a')
				byHand?.(connection, `insert into ${tables.order} (note) values ('taken')`).catch(() => {})
			})
			if (isPostgres) assert.is((await refusal(work)).kind, 'unique')
			else await work
			assert.equal(await counted(desk), [isPostgres ? 1 : 2, 0])
		})

		test('the connection’s listeners can be removed, and functions in SQL have their arguments', async () => {
			await transaction([desk.orders], async (_, connection: unknown) => {
				const given = Object(connection)
				if (typeof given.listenerCount === 'function') {
					const listen = () => {}
					const before = given.listenerCount('error')
					given.on('error', listen)
					given.removeListener('error', listen)
					assert.is(given.listenerCount('error'), before)
				}
				if (name === 'better-sqlite3') {
					given.function('twice', (n: number) => 2 * n)
					assert.is(given.prepare('select twice(4) as n').get().n, 8)
				}
			})
		})

		test('a connection used after the end is refused, and so is what would end the transaction', async () => {
			const { orders, byHand } = desk
			let kept: unknown
			await transaction([orders], async (_, connection: Record<string, () => unknown>) => {
				kept = connection
				for (const method of ['release', 'end', 'close', 'commit'].filter((one) => one in connection))
					assert.throws(() => connection[method]?.(), /is left to the transaction/)
			})
			const error = await rejected((async () => byHand?.(kept, 'select 1'))())
			assert.instance(error, TypeError)
			assert.match(String(error), 'this transaction has ended')
		})

		if (!isPooled) return

		test('one connection is enough for many at once', async () => {
			const own = await open(1)
			try {
				await Promise.all(
					Array.from({ length: 20 }, (_, at) =>
						transaction([own.orders, own.items], async ([orders, items], connection) => {
							const id = await order(orders, `n${at}`)
							await transaction([items], ([inner]) => inner.create({ order_id: id, product: 'x' }, ID))
							await own.byHand?.(connection, `update ${own.tables.item} set product = 'y'`)
						}),
					),
				)
				assert.equal(await counted(own), [20, 20])
			} finally {
				await own.close()
			}
		})

		test('a deadlock fails one transaction as busy, and the other is committed', async () => {
			const { orders } = desk
			const [a, b] = [String(await order(orders, 'a')), String(await order(orders, 'b'))]
			let arrived = 0
			const both = new Promise<void>((resolve) => {
				const check = setInterval(() => {
					if (arrived < 2) return
					clearInterval(check)
					resolve()
				}, 5)
			})
			const change = (first: string, second: string, owner: string) =>
				transaction([orders], async ([inOrders]) => {
					await inOrders.update(first, { owner }, ID, NO_GUARD)
					arrived++
					await both
					await inOrders.update(second, { owner }, ID, NO_GUARD)
				})
			const results = await Promise.allSettled([change(a, b, 'x'), change(b, a, 'y')])
			const failed = results.filter((result) => result.status === 'rejected')
			assert.is(failed.length, 1)
			assert.ok(failed[0]?.reason instanceof ModelError && failed[0].reason.kind === 'busy')
			const owners = { fields: ['owner'], names: ['owner'], version: undefined }
			const [one, two] = [await orders.read(a, owners, undefined), await orders.read(b, owners, undefined)]
			assert.equal(one?.json, two?.json)
		})

		if (!isKilled) return

		test('a connection that is killed midway rolls back, and others are used afterwards', async () => {
			const { orders, items, kill } = desk
			const work = transaction([orders, items], async ([inOrders], connection) => {
				await order(inOrders, 'lost')
				await kill?.(connection)
				await order(inOrders, 'lost, too')
			})
			const error = await refusal(work)
			assert.is(error.kind, 'unavailable')
			assert.equal(await counted(desk), [0, 0])
			await order(orders, 'after')
		})

		test('a connection that is killed before the commit leaves the outcome open', async () => {
			const { orders, kill } = desk
			const work = transaction([orders], async ([inOrders], connection) => {
				await order(inOrders, 'lost')
				await kill?.(connection)
			})
			const error = await refusal(work)
			assert.ok(['outcome_unknown', 'unavailable'].includes(error.kind), error.kind)
			assert.equal(await counted(desk), [0, 0])
		})
	})
}
