/** `databaseError`: errors of hand-written SQL get the same responses as those of operations, on all stores. */
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	databaseError,
	isRestError,
	ModelError,
	RestError,
	transaction,
} from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { rejected } from './asked.ts'
import { type Desk, desksHere } from './desks.ts'

const ID = { fields: ['id'], names: ['id'], version: undefined }

/** An error as a client sees it: `409 conflict note`. */
function seen(error: unknown): string {
	if (!isRestError(error)) return String(error)
	return [error.status, error.code, ...(error.details ?? []).map(({ field }) => field)].join(' ')
}

for (const { name, isKilled, open } of await desksHere()) {
	describe(`errors of SQL by hand by ${name}`, (test) => {
		let desk: Desk
		test.before(async () => {
			desk = await open()
			await desk.orders.create({ note: 'taken' }, ID)
		})
		test.after(() => desk.close())

		test('errors of the program, and RestErrors, are returned as they are', () => {
			for (const error of [
				new TypeError('x'),
				new RestError('gone'),
				new Error('no'),
				'text',
				undefined,
				null,
			])
				assert.is(databaseError(error, desk.orders), error)
			assert.is(seen(databaseError(new ModelError('busy'), desk.orders)), '503 unavailable')
			const own = new ModelError('unique', ['note'])
			assert.is(seen(databaseError(own, desk.orders)), '409 conflict')
			const orders = new CrudHandler(desk.orders, { visible: ['id'], updatable: ['note'] })
			assert.is(seen(databaseError(own, orders)), '409 conflict note')
		})

		if (name === 'memory') return

		const failing = async (text: (tables: Desk['tables']) => string): Promise<[unknown, unknown]> => {
			let inside: unknown
			const outside = await rejected(
				transaction([desk.orders], async (_, connection) => {
					try {
						await desk.byHand?.(connection, text(desk.tables))
					} catch (error) {
						inside = error
						throw error
					}
				}),
			)
			return [inside, outside]
		}

		test('a handler names the fields that clients may write, a model none; within a transaction and around it', async () => {
			const orders = new CrudHandler(desk.orders, { visible: ['id'], updatable: ['note'] })
			const closed = new CrudHandler(desk.orders, { visible: 'all', updatable: ['owner'] })
			const both = await failing(({ order }) => `insert into ${order} (note) values ('taken')`)
			for (const error of both) {
				assert.is(seen(databaseError(error, orders)), '409 conflict note')
				assert.is(seen(databaseError(error, closed)), '409 conflict')
				assert.is(seen(databaseError(error, desk.orders)), '409 conflict')
			}
			for (const error of await failing(({ order }) => `insert into ${order} (note) values (null)`))
				assert.is(seen(databaseError(error, orders)), '422 invalid note')
			for (const error of await failing(
				({ item }) => `insert into ${item} (order_id, product) values (99, 'x')`,
			))
				assert.is(seen(databaseError(error, desk.items)), '409 conflict')
			for (const error of await failing(
				({ item }) => `insert into ${item} (order_id, product) values (1, 'bad')`,
			))
				assert.is(seen(databaseError(error, desk.items)), '422 invalid')
			for (const error of await failing(() => 'select nonsense from nowhere'))
				assert.not.ok(isRestError(databaseError(error, desk.orders)))
		})

		if (!isKilled) return

		test('a lost connection is 503', async () => {
			let inside: unknown
			await rejected(
				transaction([desk.orders], async (_, connection) => {
					await desk.kill?.(connection)
					inside = await rejected(desk.byHand?.(connection, 'select 1') ?? Promise.resolve())
				}),
			)
			assert.match(seen(databaseError(inside, desk.orders)), /^503 (?:outcome_unknown|unavailable)$/)
		})
	})
}
