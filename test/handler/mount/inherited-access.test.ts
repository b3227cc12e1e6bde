/** An `access` that drops the `'*'` of the class above is warned of: its other methods are open. */
import * as assert from 'uvu/assert'
import { droppedStar } from '../../../lib/handler/mount/inherited-access.ts'
import { type AccessRules, RestHandler } from '../../../lib/index.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

class Closed extends RestHandler {
	override access: AccessRules = { get_a: 'anyone', '*': 'user' }
	get_a() {
		return 'a'
	}
	get_b() {
		return 'b'
	}
}

class Dropping extends Closed {
	override access: AccessRules = { get_a: 'user' }
}

class Open extends Closed {
	override access: AccessRules = { get_a: 'user', '*': 'anyone' }
}

class Inheriting extends Closed {}

class Commented extends RestHandler {
	// override access = { '*': 'user' }
	override access: AccessRules = { get_a: 'user' }
	other = { '*': 'user' }
	get_a() {
		return { access: { '*': 'user' } }
	}
}

class BelowCommented extends Commented {
	override access: AccessRules = { get_a: 'anyone' }
}

class Below extends Dropping {}

const authenticator = { authenticate: () => null }
const top = RestHandler.prototype

describe('mount/inherited-access', (test) => {
	const table: readonly (readonly [what: string, handler: RestHandler, isTold: boolean])[] = [
		['a class that drops it', new Dropping(), true],
		['a class below one that drops it', new Below(), true],
		['a class that has its own', new Open(), false],
		['a class that inherits it', new Inheriting(), false],
		['the class itself', new Closed(), false],
		['a class whose parent only mentions it', new BelowCommented(), false],
	]
	for (const [what, handler, isTold] of table)
		test(`${what} is ${isTold ? '' : 'not '}warned of`, () => {
			assert.is(droppedStar(handler, top) !== undefined, isTold)
		})

	test('fields as compilers for older targets write them are read', () => {
		const source = `return class Old extends Base { constructor() { super(); __publicField(this, "access", { "*": "user" }) } }`
		const old: unknown = new Function('Base', '__publicField', source)(
			RestHandler,
			(object: object, name: string, value: unknown) => Object.defineProperty(object, name, { value }),
		)
		assert.type(old, 'function')
		// The function has just returned a class that extends RestHandler.
		const Old = old as typeof RestHandler
		class Young extends Old {
			override access: AccessRules = {}
		}
		assert.match(String(droppedStar(new Young(), top)), /^Young\.access replaces that of Old/)
	})

	test('it is told once, when the class is mounted, with what to write', () => {
		const { lines } = asking({ a: new Dropping(), b: new Open(), c: new Dropping() }, { authenticator })
		assert.equal(
			lines.map(({ level, message }) => [level, message]),
			[
				[
					'warn',
					`Dropping.access replaces that of Closed, which has '*': methods that it doesn't name are open to anyone. Say "'*': 'user'" there, or "'*': 'anyone'" where that is meant`,
				],
			],
		)
	})
})
