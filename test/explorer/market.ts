/** A server for tests of deleted records, totals and records that are changed and deleted together: stalls, and what they have sold. */
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
	override access: AccessRules = { restore: 'user', updateMany: 'user', removeMany: 'user' }
}

class Closed extends CrudHandler {
	override access: AccessRules = { '*': 'user' }
}

export function market(): Server {
	const { shop, ware } = shopModels()
	const sale = new MemoryModel('sale', {
		key: 'id',
		fields: {
			id: 'integer',
			item: 'text',
			amount: 'decimal',
			day: 'date',
			removed: { type: 'timestamp', nullable: true },
			note: { type: 'text', nullable: true, maxLength: 100 },
			shopId: { type: 'integer', nullable: true },
			version: { type: 'integer', default: 1 },
		},
		references: [{ field: 'shopId', model: shop }],
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
	const wares = new CrudHandler(ware, { visible: 'all' })
	const shops = new CrudHandler(shop, {
		visible: 'all',
		searchable: ['name'],
		allow: ['list', 'read', 'totals'],
		totals: { by: ['id'] },
		relations: { wares: { to: wares } },
	})
	const sales = new Sales(sale, {
		visible: ['id', 'item', 'amount', 'day', 'note', 'shopId', 'version'],
		updatable: ['item', 'amount', 'day', 'note', 'shopId'],
		rules: { note: [{ min: 3 }] },
		version: 'version',
		softDelete: 'removed',
		allow: ['list', 'read', 'create', 'update', 'updateMany', 'remove', 'removeMany', 'restore', 'totals'],
		relations: { shop: { to: shops } },
		totals: { by: ['item', 'day'], of: ['amount'] },
	})
	// A key of two columns, whose values have commas.
	const stalls = new CrudHandler(stall, { visible: 'all', allow: ['list', 'read', 'removeMany'] })
	// Records that can be changed together, and not deleted, with keys that JSON.parse() would round.
	const slot = new MemoryModel('slot', {
		key: ['hall', 'number'],
		fields: { hall: 'text', number: 'bigint', isFree: 'boolean' },
		rows: [0n, 1n, 2n].map((at) => ({ hall: 'a,b', number: 9_007_199_254_740_992n + at, isFree: true })),
	})
	const slots = new CrudHandler(slot, {
		visible: 'all',
		updatable: ['isFree'],
		allow: ['list', 'read', 'update', 'updateMany'],
	})
	const closed = new Closed(stall, { visible: 'all', allow: ['list', 'totals'], totals: { by: ['row'] } })
	return createServer(
		{ sales, stalls, closed, shops, wares, slots },
		{
			...{ explorer: true, logger: new Log(), graceTimeoutSeconds: 0.1 },
			authenticator: new TokenAuthenticator({
				tokens: (sent) => (sent === digest ? { id: 'ruth' } : undefined),
			}),
		},
	)
}

/** Shops, and what belongs to each. */
function shopModels() {
	const shop = new MemoryModel('shop', {
		key: 'id',
		fields: { id: 'integer', name: 'text' },
		rows: [{ name: 'Corner' }, { name: 'Harbour' }],
	})
	const ware = new MemoryModel('ware', {
		key: 'id',
		fields: { id: 'integer', shopId: 'integer' },
		references: [{ field: 'shopId', model: shop }],
		rows: [{ shopId: 1 }],
	})
	return { shop, ware }
}
