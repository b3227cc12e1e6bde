/**
 * A class whose methods are the API: `get_hello` answers `GET /api/hello`.
 *
 *     npx tsx examples/01-hello.ts
 */
import { createServer, RestHandler } from '../lib/index.ts' // you write 'verbena'

class Greeter extends RestHandler {
	get_hello(name = 'world') {
		return `Hello, ${name}`
	}
}

const { url } = await createServer({ api: new Greeter() }).listen(Number(process.env.PORT ?? 3000))
console.log(`Listening at ${url}`)

/*
$ curl http://127.0.0.1:3000/api/hello
{"success":true,"data":"Hello, world"}
$ curl http://127.0.0.1:3000/api/hello/Ada
{"success":true,"data":"Hello, Ada"}
$ curl -X DELETE http://127.0.0.1:3000/api/hello
{"success":false,"error":"Method Not Allowed","code":"method_not_allowed"}
*/
