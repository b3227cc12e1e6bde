import * as assert from 'uvu/assert'
import { withAdvice } from '../../lib/reply/error-reply.ts'
import { describe } from '../helpers/describe.ts'

class Secret {
	#field = 1
	#method(): number {
		return this.#field
	}
	get #accessor(): number {
		return this.#field
	}
	read(): number {
		return this.#field
	}
	write(): void {
		this.#field = 2
	}
	call(): number {
		return this.#method()
	}
	access(): number {
		return this.#accessor
	}
}

function thrownBy(work: () => unknown): unknown {
	try {
		work()
	} catch (error) {
		return error
	}
	throw new Error('nothing was thrown')
}

const PRIVATE =
	"#private members can't be reached through a request's view: use TypeScript's private, or mount a factory, `() => new Blog()`"
const FROZEN = 'a handler is frozen once it is mounted'

describe('reply/error-reply: advice for the log', (test) => {
	const view = Object.create(new Secret()) as Secret
	const frozen = Object.create(Object.freeze({ hits: 0 })) as { hits: number }
	const table: [string, () => unknown, string][] = [
		['reading a #field', () => view.read(), PRIVATE],
		['writing a #field', () => view.write(), PRIVATE],
		['calling a #method', () => view.call(), PRIVATE],
		['reading a #accessor', () => view.access(), PRIVATE],
		['a write that would be lost', () => frozen.hits++, FROZEN],
		['a field on a frozen handler', () => Object.assign(Object.freeze({}), { a: 1 }), FROZEN],
	]
	for (const [what, work, advice] of table) {
		test(`${what} says what to do, and keeps the original message`, () => {
			const error = thrownBy(work) as Error
			const better = withAdvice(error) as Error
			assert.instance(better, TypeError)
			assert.ok(better.message.startsWith(`${error.message} (${advice}`), better.message)
			assert.is(better.cause, error)
		})
	}

	// The messages of private fields that were compiled for older JavaScript versions.
	for (const message of ['Cannot read from private field', 'attempted to set read only property']) {
		test(`"${message}" is recognised`, () => assert.is.not(withAdvice(new TypeError(message)), undefined))
	}

	test('every other error is unchanged', () => {
		for (const error of [
			new TypeError('x is not a function'),
			new Error('read only property'),
			null,
			'text',
			5,
		]) {
			assert.is(withAdvice(error), error)
		}
	})
})
