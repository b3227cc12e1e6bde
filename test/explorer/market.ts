/** A server for tests of deleted records, totals and lists that are deleted together: stalls, and what they have sold. */
import {
	type AccessRules,
	CrudHandler,
	createServer,
	MemoryModel,
	newToken,
	type Server,
	TokenAuthenticator,
} from '../../lib/index.ts'
import { Log } from '../helpers/listening.ts'

const { token, digest } = newToken()

/** Of ruth, who may restore and delete. */
export const KEEPER: string = token

class Sales extends CrudHandler {
	override access: AccessRules = { restore: 'user', removeMany: 'user' }
}

class Closed extends CrudHandler {
	override access: AccessRules = { '*': 'user' }
}

export function market(): Server {
	const sale = new MemoryModel('sale', {
		key: 'id',
		fields: {
			id: 'integer',
			item: 'text',
			amount: 'decimal',
			day: 'date',
			removed: { type: 'timestamp', nullable: true },
		},
		rows: [
			{ item: 'sage', amount: '10.00', day: '2026-10-31' },
			{ item: 'sage', amount: '300.00', day: '2026-11-20' },
			{ item: 'mint', amount: '-7.25', day: '2026-11-21' },
			{ item: 'dill', amount: '2.00', day: '2026-11-22' },
		],
	})
	const stall = new MemoryModel('stall', {
		key: ['row', 'name'],
		fields: { row: 'integer', name: 'text' },
		rows: [
			{ row: 1, name: 'a,b' },
			{ row: 1, name: 'c' },
			{ row: 2, name: 'c' },
		],
	})
	const sales = new Sales(sale, {
		visible: ['id', 'item', 'amount', 'day'],
		updatable: ['item', 'amount', 'day'],
		softDelete: 'removed',
		allow: ['list', 'read', 'create', 'update', 'remove', 'removeMany', 'restore', 'totals'],
		totals: { by: ['item', 'day'], of: ['amount'] },
	})
	// A key of two columns, whose values have commas.
	const stalls = new CrudHandler(stall, { visible: 'all', allow: ['list', 'read', 'removeMany'] })
	const closed = new Closed(stall, { visible: 'all', allow: ['list', 'totals'], totals: { by: ['row'] } })
	return createServer(
		{ sales, stalls, closed, ...shops() },
		{
			...{ explorer: true, logger: new Log(), graceTimeoutSeconds: 0.1 },
			authenticator: new TokenAuthenticator({
				tokens: (sent) => (sent === digest ? { id: 'ruth' } : undefined),
			}),
		},
	)
}

/** Shops, and what belongs to each. */
function shops() {
	const shop = new MemoryModel('shop', { key: 'id', fields: { id: 'integer' }, rows: [{}] })
	const ware = new MemoryModel('ware', {
		key: 'id',
		fields: { id: 'integer', shopId: 'integer' },
		references: [{ field: 'shopId', model: shop }],
		rows: [{ shopId: 1 }],
	})
	const wares = new CrudHandler(ware, { visible: 'all' })
	const shops = new CrudHandler(shop, {
		visible: 'all',
		allow: ['list', 'read', 'totals'],
		totals: { by: ['id'] },
		relations: { wares: { to: wares } },
	})
	return { shops, wares }
}
