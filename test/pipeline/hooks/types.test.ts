/** The types of hooks; mistakes don't compile. */
import * as assert from 'uvu/assert'
import { RestError, RestHandler, reply, type ServerOptions, type User } from '../../../lib/index.ts'
import { asking, ok } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { type Same, same } from '../../helpers/same.ts'

/** Without annotations. */
class Sync extends RestHandler {
	override init() {}
	override dispose() {}
	override before() {
		if (this.query.closed !== undefined) return this.error('Closed', 503)
		if (this.query.kept !== undefined) return reply({ kept: true }, { status: 203 })
		return undefined
	}
	// The type of the returned values may be declared.
	override after(value: string[]) {
		return value.length
	}
	override onError(error: unknown) {
		if (error instanceof SyntaxError) return new RestError('bad_request')
		return undefined
	}
	get_a() {
		return ['a']
	}
}

class Async extends RestHandler {
	override async init() {}
	override async dispose() {}
	override async before() {
		if (this.query.closed !== undefined) return this.error('Closed', 503)
		const user = await this.requireAuth()
		same<Same<typeof user, User>>()
		return undefined
	}
	override async after(value: unknown) {
		return [value]
	}
	override async onError() {}
}

/** Annotated for subclasses, which may answer more. */
class Parent extends RestHandler {
	override before(): ReturnType<RestHandler['before']> {}
}
class Child extends Parent {
	override async before() {
		await super.before()
		return reply(1)
	}
}

const options: ServerOptions = {
	before: async (view) => {
		same<Same<typeof view, RestHandler>>()
		same<Same<typeof view.user, User | null>>()
		await view.requireAuth()
	},
	after: (view, value) => {
		same<Same<typeof value, unknown>>()
		view.header('X-A', 'a')
		return undefined
	},
	onError: (view, error) => {
		same<Same<typeof error, unknown>>()
		return view.error('No', 400)
	},
}

/** Only for the compiler. */
class Wrong extends RestHandler {
	// @ts-expect-error a plain value can't be answered in place of the method
	override before() {
		return { id: 1 }
	}
	// @ts-expect-error errors are answered as errors
	override onError() {
		return reply('fine')
	}
	// @ts-expect-error it has no parameter
	override dispose(_now: boolean) {}
}

const wrong: ServerOptions[] = [
	// @ts-expect-error a user must not be answered: await it in a block
	{ before: (view) => view.requireAuth() },
	// @ts-expect-error a server has one of each
	{ before: [() => {}] },
	// @ts-expect-error an Error isn't shown to clients
	{ onError: () => new Error('no') },
	// @ts-expect-error it is called with the view first
	{ after: (value: string) => value },
]

describe('hooks: types', (test) => {
	test('the code that compiles also works', async () => {
		const { said } = asking({ '': new Sync() })
		assert.is(await said('/a'), ok(1))
		assert.match(await said('/a?closed'), /^503 /)
		assert.is(typeof new Child().before, 'function')
		assert.equal([Async, Wrong, options, wrong].length, 4)
	})
})
