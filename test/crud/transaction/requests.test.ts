/** `transaction` in the methods of a request: its user and scopes, overrides, errors, timeouts and clients that disconnect. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudId,
	type CrudOptions,
	type CrudValues,
	type Model,
	ModelError,
	RestError,
	RestHandler,
	transaction,
} from '../../../lib/index.ts'
import { asking, ok } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { listening, until } from '../../helpers/listening.ts'
import { connected, requestText } from '../../helpers/raw.ts'
import { refusal, rejected } from './asked.ts'
import { type Desk, desksHere } from './desks.ts'

const OPTIONS: CrudOptions = {
	...{ visible: 'all', updatable: ['note'], creatable: ['note'] },
	allow: ['list', 'read', 'create', 'update', 'remove'],
}
const ITEMS: CrudOptions = { visible: 'all', updatable: ['order_id', 'product'], allow: ['list', 'create'] }

const authenticator = {
	authenticate: ({ headers }: { headers: Record<string, unknown> }) =>
		headers.user === undefined ? null : { id: String(headers.user) },
}

class Orders extends CrudHandler {
	override authenticator = authenticator

	override scope() {
		return { owner: this.user?.id }
	}
}

const kinds = await desksHere()

for (const { name, open } of kinds) {
	describe(`transactions in requests by ${name}`, (test) => {
		let desk: Desk
		test.before.each(async () => {
			desk = await open()
		})
		test.after.each(() => desk.close())

		const counts = async () => [await desk.orders.count(undefined), await desk.items.count(undefined)]

		test('handlers within it have the request’s user and scope, and check values', async () => {
			const items = new CrudHandler(desk.items, ITEMS)
			class Own extends Orders {
				async post_order() {
					const { product } = this.getParams({ product: ['required', 'string'] })
					return transaction([this, items], async ([orders, inItems]) => {
						assert.ok(orders instanceof Own && inItems instanceof CrudHandler)
						const order = await orders.create({ note: `for ${product}` })
						await inItems.create({ order_id: Number(order.id), product })
						const { meta } = await orders.list({ limit: 0 })
						return { owner: (order.value() as { owner: string }).owner, seen: meta.total }
					})
				}
			}
			const { said } = asking({ order: new Own(desk.orders, OPTIONS), item: items })
			const post = (user: string, product: unknown) =>
				said('POST /order/order', { headers: { user }, body: { product } })
			assert.is(await post('ada', 'sage'), ok({ owner: 'ada', seen: 1 }))
			assert.is(await post('bob', 'mint'), ok({ owner: 'bob', seen: 1 }))
			assert.match(await post('bob', 'bad'), name === 'memory' ? /^200/ : /^422 .*"code":"invalid"/)
			assert.equal(await counts(), name === 'memory' ? [3, 3] : [2, 2])
			assert.match(await said('/order/1', { headers: { user: 'bob' } }), /^404/)
		})

		test('an override calls super within it, and the reply is that of a create', async () => {
			const items = new CrudHandler(desk.items, ITEMS)
			class Own extends Orders {
				override async create(values: CrudValues) {
					return transaction([this, items], async ([, inItems]) => {
						const order = await super.create(values)
						await inItems.create({ order_id: Number(order.id), product: 'first' })
						if (values.note === 'fails') throw new TypeError('a mistake')
						return order
					})
				}
			}
			const { ask, lines } = asking({ order: new Own(desk.orders, OPTIONS) })
			const post = (note: string) => ask('POST /order', { headers: { user: 'ada' }, body: { note } })
			const reply = await post('a')
			assert.equal([reply.status, reply.headers.location], [201, '/order/1'])
			assert.is((await post('fails')).status, 500)
			assert.is((await post('a')).status, 409)
			assert.equal(await counts(), [1, 1])
			assert.is(lines.filter(({ level }) => level === 'error').length, 1)
			// The view is as it was before.
			assert.is((await ask('/order', { headers: { user: 'ada' } })).status, 200)
		})

		test('an override that calls itself gets an error that says so', async () => {
			class Own extends Orders {
				override create(values: CrudValues): Promise<unknown> {
					return transaction([this], ([orders]) => orders.create(values))
				}
			}
			const { ask, logged } = asking({ order: new Own(desk.orders, OPTIONS) })
			const { status } = await ask('POST /order', { headers: { user: 'ada' }, body: { note: 'a' } })
			assert.is(status, 500)
			assert.match(logged(), 'an override that begins one must call super, as in super.create(values)')
			assert.equal(await counts(), [0, 0])
		})

		test('an error that the method records, or a check that it doesn’t await, rolls back', async () => {
			class Own extends Orders {
				async post_error() {
					return transaction([this], async ([orders]) => {
						await orders.create({ note: 'a' })
						return this.error('Too late', 409)
					})
				}

				async post_check() {
					const done = await transaction([this], async ([orders]) => {
						await orders.create({ note: 'a' })
						const refused = { authenticate: async () => null }
						this.requireAuth(refused).catch(() => {})
						return 'done'
					})
					return done
				}

				async post_twice() {
					return transaction([this], async ([orders]) => {
						await orders.create({ note: 'a' })
						const inner = await transaction([orders], async ([inOrders]) => {
							await inOrders.create({ note: 'b' })
							return this.error('Inner', 409)
						})
						return inner
					})
				}
			}
			const { said } = asking({ order: new Own(desk.orders, OPTIONS) })
			const headers = { user: 'ada' }
			assert.match(await said('POST /order/error', { headers }), /^409 .*Too late/)
			assert.match(await said('POST /order/check', { headers }), /^401/)
			assert.match(await said('POST /order/twice', { headers }), /^409 .*Inner/)
			assert.equal(await counts(), [0, 0])
		})

		test('related records are read within it', async () => {
			class Own extends Orders {
				async get_items() {
					return transaction([this, items], async ([orders, inItems]) => {
						const order = await orders.create({ note: 'a' })
						await inItems.create({ order_id: Number(order.id), product: 'sage' })
						return orders.list(this.listQuery())
					})
				}
			}
			const items = new CrudHandler(desk.items, { ...ITEMS, visible: ['product'] })
			const relations = { items: { to: items, by: 'order_id', many: true } }
			const orders = new Own(desk.orders, { ...OPTIONS, visible: ['note'], relations })
			const { said } = asking({ order: orders, item: items })
			const text = await said('/order/items?include=items', { headers: { user: 'ada' } })
			assert.match(text, /^200 .*"data":\[\{"note":"a","items":\{"data":\[\{"product":"sage"\}\]/)
		})

		test('related records that overrides answer are read within it', async () => {
			class OwnItems extends CrudHandler {
				override list(query: Parameters<CrudHandler['list']>[0]) {
					return super.list(query)
				}
			}
			class ReadOrders extends Orders {
				override read(id: CrudId) {
					return super.read(id)
				}
			}
			class Own extends ReadOrders {
				async get_items() {
					return transaction([this, items], async ([orders, inItems]) => {
						const order = await orders.create({ note: 'a' })
						await inItems.create({ order_id: Number(order.id), product: 'sage' })
						return orders.list(this.listQuery())
					})
				}
			}
			const readOrders = new ReadOrders(desk.orders, { ...OPTIONS, visible: ['note'] })
			const items: CrudHandler = new OwnItems(desk.items, {
				...{ ...ITEMS, visible: ['product'] },
				relations: { order: { to: readOrders, by: 'order_id' } },
			})
			const relations = { items: { to: items, by: 'order_id', many: true } }
			const orders = new Own(desk.orders, { ...OPTIONS, visible: ['note'], relations })
			const { said } = asking({ order: orders, item: items, read: readOrders })
			const text = await said('/order/items?include=items.order', { headers: { user: 'ada' } })
			assert.match(
				text,
				/^200 .*"data":\[\{"note":"a","items":\{"data":\[\{"product":"sage","order":\{"note":"a"\}\}\]/,
			)
			// The transaction has left the handlers as they were.
			assert.match(await said('/order?include=items.order', { headers: { user: 'ada' } }), text.slice(4, -20))
		})

		test('a request that times out rolls back, gives its connection back, and later statements fail', async () => {
			const late: Promise<unknown>[] = []
			class Own extends Orders {
				async post_slow() {
					return transaction([this], async ([orders]) => {
						await orders.create({ note: 'lost' })
						await this.create({ note: 'lost, too' })
						await new Promise((resolve) => this.request.signal.addEventListener('abort', resolve))
						// After the rollback.
						await until(async () => (await desk.orders.count(undefined)) === 0, 'rolled back')
						for (const one of [orders, this]) late.push(rejected(one.create({ note: 'late' })))
						await Promise.all(late)
					})
				}
			}
			const { said } = asking({ order: new Own(desk.orders, OPTIONS) }, { handlerTimeoutSeconds: 1 })
			assert.match(await said('POST /order/slow', { headers: { user: 'ada' } }), /^503 .*took too long/)
			await until(() => late.length === 2, 'late statements')
			for (const error of late) assert.match(String(await error), 'this transaction has ended')
			assert.equal(await counts(), [0, 0])
		})

		test('an override that begins one with another handler works within a list, too', async () => {
			const items = new CrudHandler(desk.items, ITEMS)
			class Own extends Orders {
				override async create(values: CrudValues) {
					return transaction([this, items], async ([, inItems]) => {
						const order = await super.create(values)
						await inItems.create({ order_id: Number(order.id), product: String(values.note) })
						return order
					})
				}
			}
			const orders = new Own(desk.orders, { ...OPTIONS, allow: ['create', 'createMany'] })
			const { said } = asking({ order: orders, item: items })
			const post = (...notes: string[]) =>
				said('POST /order', { headers: { user: 'ada' }, body: notes.map((note) => ({ note })) })
			assert.match(await post('a', 'b', 'a'), /^409 .*"field":"2.note"/)
			assert.equal(await counts(), [0, 0])
			const [, id] = /^201 .*"id":(\d+)/.exec(await post('a', 'b')) ?? []
			assert.equal(await counts(), [2, 2])
			// The transaction has left the handlers as they were.
			const body = { order_id: Number(id), product: 'c' }
			assert.match(await said('POST /item', { headers: { user: 'ada' }, body }), /^201/)
		})

		test('two at once: `this` is in one after the other', async () => {
			class Own extends Orders {
				async post_two() {
					const made = (note: string) =>
						transaction([this], async () => {
							await this.create({ note })
							await this.create({ note: `${note} 2` })
							if (note === 'lost') throw new RestError('conflict')
						})
					const all = await Promise.allSettled([made('lost'), made('kept'), this.createMany([{ note: 'm' }])])
					return all.map(({ status }) => status)
				}
			}
			const { said } = asking({ order: new Own(desk.orders, OPTIONS) })
			const text = await said('POST /order/two', { headers: { user: 'ada' } })
			assert.is(text, ok(['rejected', 'fulfilled', 'fulfilled']))
			assert.equal(await counts(), [3, 0])
		})

		test('a client that disconnects rolls it back', async () => {
			let isBegun = false
			let end: unknown
			class Own extends RestHandler {
				async post_slow() {
					const work = transaction(
						[desk.orders],
						async ([orders]) => {
							await orders.create({ note: 'lost' }, ID)
							isBegun = true
							// Never settles.
							await new Promise(() => {})
						},
						{ request: this },
					)
					end = await rejected(work)
					throw end
				}
			}
			await listening({ api: new Own() }, {}, async ({ port }) => {
				await connected(port, async (client) => {
					void client.send(requestText('POST /api/slow', ['Content-Length: 0']))
					await until(() => isBegun, 'begun')
				})
				await until(() => end !== undefined, 'rolled back')
				assert.is((end as Error).name, 'AbortError')
				assert.equal(await counts(), [0, 0])
				await desk.orders.create({ note: 'after' }, ID)
			})
		})

		test('one that disconnects after the commit gets the answer when it retries', async () => {
			let isStored = false
			class Own extends CrudHandler {
				override authenticator = authenticator
				async post_pay() {
					const made = await transaction([this], ([orders]) => orders.create({ note: 'paid' }))
					if (!isStored) {
						isStored = true
						await until(() => this.request.signal.aborted, 'gone')
					}
					return made
				}
				// It fails after the change is stored.
				override stripObject(record: Record<string, unknown>) {
					if (record.note === 'broken') throw new Error('no')
					return record
				}
			}
			const own = new Own(desk.orders, { ...OPTIONS, allow: ['create', 'createMany'] })
			await listening({ order: own }, {}, async ({ port }) => {
				const headers = ['Content-Length: 0', 'user: ada', 'Idempotency-Key: k1']
				await connected(port, async (client) => {
					void client.send(requestText('POST /order/pay', headers))
					await until(() => isStored, 'stored')
				})
				const send = async (path: string, key: string, body?: object): Promise<number> => {
					const { status } = await fetch(`http://127.0.0.1:${port}${path}`, {
						method: 'POST',
						headers: {
							user: 'ada',
							'idempotency-key': key,
							...(body && { 'content-type': 'application/json' }),
						},
						...(body && { body: JSON.stringify(body) }),
					})
					return status
				}
				// 409 as long as the server doesn't know that the client is gone.
				await until(async () => (await send('/order/pay', 'k1')) === 200, 'answered')
				assert.equal(await counts(), [1, 0])
				for (const body of [{ note: 'broken' }, [{ note: 'broken' }]]) {
					for (const id of await idsOf(desk.orders))
						await desk.orders.delete(String(id), ID, { where: undefined, version: undefined })
					const key = `broken-${Array.isArray(body)}`
					assert.equal([await send('/order', key, body), await send('/order', key, body)], [500, 409])
					assert.equal(await counts(), [1, 0])
				}
			})
		})

		test('handlers work outside of a request, where their scopes don’t need one', async () => {
			const orders = new CrudHandler(desk.orders, OPTIONS)
			await transaction([orders, desk.items], async ([inOrders, inItems]) => {
				const { id } = await inOrders.create({ note: 'a' })
				await inItems.create({ order_id: Number(id), product: 'x' }, ID)
			})
			class Own extends CrudHandler {
				override async create(values: CrudValues) {
					return transaction([this], async ([inside]) => {
						const made = await super.create.call(inside, values)
						if (values.note === 'lost') throw new RestError('conflict')
						return made
					})
				}
			}
			const own = new Own(desk.orders, OPTIONS)
			assert.match(String(await rejected(own.create({ note: 'lost' }))), 'RestError: ')
			await own.create({ note: 'kept' })
			assert.equal(await counts(), [2, 1])
			const where = { op: 'in', field: 'note', values: ['kept', 'changed 0', 'changed 1'] } as const
			assert.is((await orders.removeMany(where)).length, 1)
			const changed = await transaction([orders], async ([inOrders]) => {
				const made = await inOrders.createMany([{ note: 'b' }, { note: 'c' }])
				return inOrders.updateMany(made.map(({ id }, at) => ({ id: Number(id), note: `changed ${at}` })))
			})
			assert.is(changed.length, 2)
			assert.is((await transaction([orders], ([inOrders]) => inOrders.removeMany(where))).length, 2)
			assert.equal(await counts(), [1, 1])
			const wrong = transaction([orders], async () => {}, { request: orders })
			assert.match(String(await rejected(wrong)), 'request must be the `this` of a request')
		})

		test('a transaction that can’t begin is 503 in a request, and a ModelError outside of one', async () => {
			const broken = {
				...{ name: 'broken', fields: [], key: 'id' },
				transaction: () => Promise.reject(new ModelError('unavailable')),
			} as unknown as Model
			class Own extends RestHandler {
				async post_it() {
					return transaction([broken], async () => {}, { request: this })
				}
			}
			assert.is((await refusal(transaction([broken], async () => {}))).kind, 'unavailable')
			const { ask } = asking({ api: new Own() })
			const { status, headers } = await ask('POST /api/it')
			assert.equal([status, headers['retry-after']], [503, '5'])
		})
	})
}

async function idsOf(model: Model): Promise<readonly unknown[]> {
	const { json } = await model.list({
		...{ selection: ID, where: undefined, order: [{ field: 'id', descending: false }] },
		...{ limit: 9, offset: 0, after: undefined, total: false },
	})
	return (JSON.parse(json) as { id: unknown }[]).map(({ id }) => id)
}

const ID = { fields: ['id'], names: ['id'], version: undefined }
