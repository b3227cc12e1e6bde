/**
 * Three errors: two whose messages the client gets, and one that is only logged.
 *
 *     npx tsx examples/03-errors.ts
 */
import { createServer, RestError, RestHandler } from '../lib/index.ts' // you write 'verbena'

class Shop extends RestHandler {
	get_cheese(name: string) {
		if (name !== 'brie') return this.error('No such cheese', 404)
		return { name, price: 4.5 }
	}

	post_order() {
		throw new RestError('conflict', 'The last one is sold', { headers: { 'Retry-After': '3600' } })
	}

	get_stock() {
		throw new Error('SELECT on table stock failed: password expired') // only the logger gets it
	}
}

const { url } = await createServer({ shop: new Shop() }).listen(Number(process.env.PORT ?? 3000))
console.log(`Listening at ${url}`)

/*
$ curl http://127.0.0.1:3000/shop/cheese/gouda
{"success":false,"error":"No such cheese","code":"not_found"}
$ curl -i -X POST http://127.0.0.1:3000/shop/order
HTTP/1.1 409 Conflict
…
Retry-After: 3600
…
{"success":false,"error":"The last one is sold","code":"conflict"}
$ curl http://127.0.0.1:3000/shop/stock
{"success":false,"error":"Internal Server Error","code":"internal","requestId":"…"}
*/
