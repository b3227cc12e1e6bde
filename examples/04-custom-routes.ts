/**
 * Paths other than `<method>_<resource>`: `%s` is a text, `%d` a number, each within one segment.
 *
 *     npx tsx examples/04-custom-routes.ts
 */
import { createServer, RestHandler } from '../lib/index.ts' // you write 'verbena'

class Archive extends RestHandler {
	override customRoutes = {
		'GET %d/%d': 'month', // the first that fits is taken, in the order they are written
		'GET tag/%s': 'tag',
		'GET|POST page-%d': 'page',
	}

	month(year: number, month: number) {
		return { year, month }
	}

	tag(name: string) {
		return { name }
	}

	page(number: number) {
		return { method: this.request.method, number }
	}
}

const { url } = await createServer({ archive: new Archive() }).listen(Number(process.env.PORT ?? 3000))
console.log(`Listening at ${url}`)

/*
$ curl http://127.0.0.1:3000/archive/2026/11
{"success":true,"data":{"year":2026,"month":11}}
$ curl http://127.0.0.1:3000/archive/tag/caf%C3%A9%2Fbar
{"success":true,"data":{"name":"café/bar"}}
$ curl -X POST http://127.0.0.1:3000/archive/page-7
{"success":true,"data":{"method":"POST","number":7}}
*/
