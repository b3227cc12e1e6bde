/** Totals through `CrudClient`, against `CrudHandler`. */
import * as assert from 'uvu/assert'
import { CrudClient } from '../../lib/client/index.ts'
import { encodeTotals } from '../../lib/client/totals.ts'
import { CrudHandler, createServer, MemoryModel } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { answering, json } from './answering.ts'

interface Order {
	readonly id: number
	readonly status: 'paid' | 'open'
	readonly amount: string | null
	readonly max: string
	readonly created: string
}

function shop() {
	const customer = new MemoryModel('customer', {
		fields: { id: 'integer', name: 'text' },
		key: 'id',
		rows: [{ name: 'Ada' }],
	})
	const order = new MemoryModel('order', {
		fields: {
			...{ id: 'integer', status: 'text', amount: { type: 'decimal', nullable: true }, max: 'text' },
			...{ created: 'timestamp', customerId: { type: 'integer', nullable: true } },
		},
		key: 'id',
		references: [{ field: 'customerId', model: customer }],
		rows: [
			{ status: 'paid', amount: '10.00', max: 'x', created: '2026-10-31T23:30:00Z', customerId: 1 },
			{ status: 'paid', amount: '2.50', max: 'x', created: '2026-11-20T12:00:00Z', customerId: 1 },
			{ status: 'open', amount: null, max: 'y', created: '2026-11-21T12:00:00Z', customerId: null },
		],
	})
	const customers = new CrudHandler(customer, { visible: 'all' })
	const orders = new CrudHandler(order, {
		visible: 'all',
		allow: ['totals'],
		relations: { customer: { to: customers } },
		totals: { by: ['status', 'created', 'customer.name'], of: ['amount', 'created'] },
	})
	const server = createServer({ order: orders })
	const fetch = async (url: string | URL | Request, init?: RequestInit) =>
		server.fetch(new Request(new URL(String(url), 'http://localhost'), init))
	return new CrudClient<Order, { customer: { readonly name: string } }>('order', '', { fetch })
}

describe('client: totals', (test) => {
	test('groups are those that the server answers', async () => {
		const orders = shop()
		const groups = await orders.totals({
			...{ by: ['status', 'created:month', 'customer.name'], count: true, sum: ['amount'], avg: ['amount'] },
			...{ sort: ['-sum.amount'], tz: 'Europe/Berlin', having: { count: { gte: 1n } }, limit: 5 },
		})
		assert.equal(groups, [
			{
				...{ status: 'paid', created: '2026-11', 'customer.name': 'Ada', count: 2 },
				...{ sum: { amount: '12.50' }, avg: { amount: '6.25000000' } },
			},
			{
				...{ status: 'open', created: '2026-11', 'customer.name': null, count: 1 },
				...{ sum: { amount: null }, avg: { amount: null } },
			},
		])
		assert.equal(await orders.totals({ count: true, where: { 'customer.name': 'Ada' } }), [{ count: 2 }])
		// A field that is named like a parameter.
		assert.equal(await orders.totals({ count: true, where: { max: 'x' } }), [{ count: 2 }])
		const many = Array.from({ length: 300 }, (_, at) => `word ${at}`)
		assert.equal(await orders.totals({ count: true, filter: { not: { max: many.slice(0, 100) } } }), [
			{ count: 3 },
		])
	})

	test('the query is in the URL, or in the body of a QUERY', () => {
		const url = (query: Parameters<typeof encodeTotals>[1]) =>
			decodeURIComponent(encodeTotals('/shop/order', query).url).replaceAll('+', ' ')
		assert.is(url({}), '/shop/order/totals')
		assert.is(url({ count: false, having: undefined }), '/shop/order/totals')
		const asked = {
			by: ['a', 'b:day'],
			sum: ['c'],
			avg: [],
			sort: ['-sum.c'],
			limit: 3,
			tz: 'Asia/Kathmandu',
		}
		assert.is(
			url({ ...asked, count: true, where: { a: 'x', b: { gte: new Date(0) } } }),
			'/shop/order/totals?by=a,b:day&sum=c&count=exact&sort=-sum.c&limit=3&tz=Asia/Kathmandu&a=x&b[gte]=1970-01-01T00:00:00.000Z',
		)
		assert.is(
			url({ having: { 'sum.c': { gt: 9007199254740993n } }, filter: { or: [{ a: 1 }] } } as object),
			'/shop/order/totals?having={"sum.c":{"gt":"9007199254740993"}}&filter={"or":[{"a":{"eq":1}}]}',
		)
		const long = encodeTotals('/shop/order', { count: true, where: { a: 'x'.repeat(3_000) } })
		assert.equal(long, {
			...{ method: 'QUERY', url: '/shop/order/totals' },
			body: { count: 'exact', filter: { a: { eq: 'x'.repeat(3_000) } } },
		})
		assert.throws(() => encodeTotals('/shop/order', { group: ['a'] } as object), /totals.*group/)
	})

	test('an answer that is not a list is an error', async () => {
		await answering(async (site) => {
			site.answer = json({ success: true, data: {} })
			const orders = new CrudClient<Order>('order', `${site.origin}/shop`)
			const error = await orders.totals({ count: true }).catch((thrown: unknown) => thrown)
			assert.match(String(error), 'is not a list')
			assert.equal(
				site.asked.map(({ line }) => line),
				['GET /shop/order/totals?count=exact'],
			)
		})
	})
})
