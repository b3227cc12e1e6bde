/**
 * Responses that are generated while they are sent: records as a JSON array, or bytes. With backpressure: nothing
 * is generated faster than the client reads it.
 *
 *     npx tsx examples/06-stream.ts
 */
import { Readable } from 'node:stream'
import { createServer, RestHandler, reply } from '../lib/index.ts' // you write 'verbena'

async function* squares(count: number) {
	for (let n = 1; n <= count; n++) yield { n, square: n * n } // rows of a database cursor, say
}

class Numbers extends RestHandler {
	override customRoutes = { 'GET squares/%d': 'squares' }

	squares(count: number) {
		return squares(count)
	}

	get_csv() {
		const lines = Readable.from(['n,square\n', '1,1\n', '2,4\n'], { objectMode: false })
		return reply(lines, { headers: { 'Content-Type': 'text/csv; charset=utf-8' } })
	}
}

const { url } = await createServer({ numbers: new Numbers() }).listen(Number(process.env.PORT ?? 3000))
console.log(`Listening at ${url}`)

/*
$ curl http://127.0.0.1:3000/numbers/squares/3
{"success":true,"data":[{"n":1,"square":1},{"n":2,"square":4},{"n":3,"square":9}]}
$ curl http://127.0.0.1:3000/numbers/csv
n,square
1,1
2,4
*/
