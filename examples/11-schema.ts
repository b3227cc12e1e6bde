/**
 * Schemas of zod, valibot, arktype and every other Standard Schema, for a field or for the whole body.
 *
 *     npx tsx examples/11-schema.ts
 */
import { z } from 'zod'
import { createServer, RestHandler } from '../lib/index.ts' // you write 'verbena'

const Address = z.object({ street: z.string().min(1), city: z.string().min(1) })

class Orders extends RestHandler {
	post_order() {
		const { item, address } = this.getParams({ item: ['required', 'string'], address: Address })
		return `${item} to ${address.city}`
	}

	post_address() {
		return this.getParams(Address).street
	}
}

const server = createServer({ api: new Orders() })
const address = { street: 'Lindenweg 3', city: 'Bern' }
for (const [url, body] of [
	['/api/order', { item: 'A tulip', address }],
	['/api/address', address],
	['/api/order', { item: 'A tulip', address: { street: 'Lindenweg 3' } }],
] as const) {
	console.log((await server.inject({ method: 'POST', url, body })).text())
}

/*
{"success":true,"data":"A tulip to Bern"}
{"success":true,"data":"Lindenweg 3"}
{"success":false,"error":"address.city is required","code":"invalid","details":[{"field":"address.city","code":"required","message":"is required"}]}
*/
