/**
 * State of the handler and state of a request. In a method, `this` is created for the request; the handler behind it
 * is shared, and frozen once it is mounted.
 *
 *     npx tsx examples/12-state.ts
 */
import { createServer, RestHandler } from '../lib/index.ts' // you write 'verbena'

class Visits {
	count = 0
}

class Page extends RestHandler {
	private readonly visits = new Visits() // shared by all requests
	private greeting?: string // a field without a value belongs to one request

	override async init() {
		this.visits.count = 100 // once, before the first request: open the database here
	}

	get_page(name: string) {
		this.visits.count++
		this.greeting = `Hello, ${name}`
		return this.answer()
	}

	private answer() {
		return `${this.greeting}, visitor ${this.visits.count}`
	}
}

const server = createServer({ '': new Page() })
console.log((await server.inject({ url: '/page/Ada' })).text())
console.log((await server.inject({ url: '/page/Bob' })).text())
/*
{"success":true,"data":"Hello, Ada, visitor 101"}
{"success":true,"data":"Hello, Bob, visitor 102"}
*/
