/**
 * Rules check what a client sends, field by field, and give it types.
 *
 *     npx tsx examples/02-params.ts
 */
import { createServer, RestHandler } from '../lib/index.ts' // you write 'verbena'

class Guests extends RestHandler {
	post_guest() {
		const guest = this.getParams({
			name: ['required', 'string', { min: 1, max: 100 }],
			email: ['required', 'email'],
			age: ['integer', { min: 0 }],
		})
		return guest // { name: string; email: string; age?: number }: other fields are dropped
	}

	get_guests() {
		// The second argument is another source; its texts are converted to the types of the rules.
		return this.getParams({ limit: ['integer', { min: 1, max: 100, default: 20 }] }, this.query)
	}
}

const { url } = await createServer({ api: new Guests() }).listen(Number(process.env.PORT ?? 3000))
console.log(`Listening at ${url}`)

/*
$ curl -H 'Content-Type: application/json' -d '{"name":"Ada","email":"ada@example.com"}' http://127.0.0.1:3000/api/guest
{"success":true,"data":{"name":"Ada","email":"ada@example.com"}}
$ curl -d name=Ada -d email=ada@example.com -d age=36 http://127.0.0.1:3000/api/guest
{"success":true,"data":{"name":"Ada","email":"ada@example.com","age":36}}
$ curl -d name=Ada -d age=-1 http://127.0.0.1:3000/api/guest
{"success":false,"error":"email is required; age must be at least 0","code":"invalid","details":[{"field":"email","code":"required","message":"is required"},{"field":"age","code":"min","message":"must be at least 0"}]}
$ curl 'http://127.0.0.1:3000/api/guests?limit=5'
{"success":true,"data":{"limit":5}}
*/
