/**
 * Inside an Express app: paths without a handler are passed on to the middleware that follows.
 *
 *     npx tsx examples/09-express.ts
 */
import express from 'express'
import { createServer, RestHandler } from '../lib/index.ts' // you write 'verbena'

class Cats extends RestHandler {
	get_cat(name: string) {
		return { name, url: this.request.url }
	}

	post_cat() {
		return this.getParams({ name: ['required', 'string'] })
	}
}

const app = express()
app.use('/api', createServer({ cats: new Cats() }).handler) // before express.json(), or after it
app.get('/', (_request, response) => {
	response.send('Express itself')
})
const port = Number(process.env.PORT ?? 3000)
app.listen(port, '127.0.0.1', () => console.log(`Listening at http://127.0.0.1:${port}`))

/*
$ curl http://127.0.0.1:3000/api/cats/cat/Mia
{"success":true,"data":{"name":"Mia","url":"/api/cats/cat/Mia"}}
$ curl -d name=Mia http://127.0.0.1:3000/api/cats/cat
{"success":true,"data":{"name":"Mia"}}
$ curl http://127.0.0.1:3000/
Express itself
*/
