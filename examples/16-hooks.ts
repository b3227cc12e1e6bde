/**
 * Hooks around the methods of a handler. As options of the server, they are called for all handlers.
 *
 *     npx tsx examples/16-hooks.ts
 */
import { createServer, RestError, RestHandler } from '../lib/index.ts' // you write 'verbena'

class Shop extends RestHandler {
	private readonly orders = new Map([['1', { id: 1, total: 20 }]])
	private tenant?: string | undefined // belongs to one request

	override before() {
		this.tenant = this.query.tenant
		return this.tenant === undefined ? this.error('Which tenant?', 400) : undefined
	}
	override after(order: unknown) {
		return { tenant: this.tenant, order }
	}
	override onError(error: unknown) {
		return error instanceof RangeError ? new RestError('conflict', error.message) : undefined
	}
	override dispose() {
		console.log(`closed, with ${this.orders.size} order`)
	}
	get_order(id: string) {
		if (!this.orders.has(id)) throw new RangeError('Sold out')
		return this.orders.get(id)
	}
}

const server = createServer({ '': new Shop() }, { after: (view) => view.header('X-Shop', 'open') })
const urls = ['/order/1', '/order/1?tenant=a', '/order/2?tenant=a']
for (const url of urls) console.log((await server.inject({ url })).text())
await server.close()
/*
{"success":false,"error":"Which tenant?","code":"bad_request"}
{"success":true,"data":{"tenant":"a","order":{"id":1,"total":20}}}
{"success":false,"error":"Sold out","code":"conflict"}
closed, with 1 order
*/
