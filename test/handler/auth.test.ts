import * as assert from 'uvu/assert'
import { type Acl, type Authenticator, RestError, RestHandler, type User } from '../../lib/index.ts'
import { type Asking, asking, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const UNAUTHORIZED = '401 {"success":false,"error":"Unauthorized","code":"unauthorized"}'
const FORBIDDEN = '403 {"success":false,"error":"Forbidden","code":"forbidden"}'

/** Returns its constructor's argument, one turn of the event loop later, and counts its calls. */
class Fixed implements Authenticator {
	asked = 0
	private readonly answer: User | null | Error
	constructor(answer: User | null | Error) {
		this.answer = answer
	}
	async authenticate() {
		this.asked++
		await new Promise(setImmediate)
		if (this.answer instanceof Error) throw this.answer
		return this.answer
	}
}

const nobody = new Fixed(null)
const ann = new Fixed({ id: 'ann' })
const bad = new Fixed(new RestError('unauthorized', 'Unknown key'))
const broken = new Fixed(new Error('no database'))
const acl: Acl = { allows: (user, resource) => user.id === 'ann' && resource !== 'no' }

const did: string[] = []

class Blog extends RestHandler {
	async get_awaited() {
		const user = await this.requireAuth(nobody)
		did.push('after')
		return user
	}
	async get_ann() {
		const user = await this.requireAuth(ann)
		return [user, this.user, await this.requireAuth(ann)]
	}
	get_forgotten() {
		this.requireAuth(nobody)
		did.push('forgotten')
		return 'secret'
	}
	async get_forgotten_async() {
		this.requireAuth(bad)
		return 'secret'
	}
	get_forgotten_throws() {
		this.requireAuth(nobody)
		throw new Error('later')
	}
	async get_forgotten_throws_async() {
		this.requireAuth(nobody)
		throw new RestError('not_found')
	}
	get_forgotten_error() {
		this.requireAuth(nobody)
		return this.error('No such article', 404)
	}
	get_forgotten_broken() {
		this.requireAuth(broken)
		return 'secret'
	}
	get_forgotten_broken_error() {
		this.requireAuth(broken)
		return this.error('No such article', 404)
	}
	get_forgotten_ann() {
		this.requireAuth(ann)
		return 'hello'
	}
	get_forgotten_ann_throws() {
		this.requireAuth(ann)
		throw new RestError('gone')
	}
	async *get_forgotten_stream() {
		this.requireAuth(nobody)
		yield 'secret'
	}
	async *get_stream() {
		const { id } = await this.requireAuth(ann)
		yield id
	}
	async *get_stream_refused() {
		await this.requireAuth(nobody)
		yield 'secret'
	}
	get_two() {
		this.requireAuth(ann)
		this.requireAuth(nobody)
		return 'secret'
	}
	get_none() {
		return this.requireAuth()
	}
	get_user() {
		this.user = { id: 'set' }
		return this.user
	}
}

describe('handler: requireAuth', (test) => {
	const table: [string, string][] = [
		['awaited', UNAUTHORIZED],
		['ann', ok([{ id: 'ann' }, { id: 'ann' }, { id: 'ann' }])],
		['forgotten', UNAUTHORIZED],
		['forgotten_async', '401 {"success":false,"error":"Unknown key","code":"unauthorized"}'],
		['forgotten_throws', UNAUTHORIZED],
		['forgotten_throws_async', UNAUTHORIZED],
		['forgotten_error', UNAUTHORIZED],
		['forgotten_ann', ok('hello')],
		['forgotten_ann_throws', '410 {"success":false,"error":"Gone","code":"gone"}'],
		['forgotten_stream', UNAUTHORIZED],
		['stream', ok(['ann'])],
		['stream_refused', UNAUTHORIZED],
		['two', UNAUTHORIZED],
		['user', ok({ id: 'set' })],
	]
	const { said, ask, logged } = asking({ blog: new Blog() }, { acl })
	for (const [name, answer] of table) {
		test(`${name} → ${answer}`, async () => assert.is(await said(`/blog/${name}`), answer))
	}

	test('an awaited refusal stops the method; an un-awaited one does not stop it at once', async () => {
		did.length = 0
		await said('/blog/awaited')
		await said('/blog/forgotten')
		assert.equal(did, ['forgotten'])
	})

	for (const name of ['forgotten_broken', 'forgotten_broken_error']) {
		test(`${name}: an authenticator that fails is 500, and logged`, async () => {
			assert.is((await ask(`/blog/${name}`)).status, 500)
			assert.is(logged(), 'no database')
		})
	}

	test('an authenticator is called once per request, however often it is required', async () => {
		ann.asked = 0
		await said('/blog/ann')
		assert.is(ann.asked, 1)
	})

	test("without argument it uses the handler's authenticator, which has run already", async () => {
		const own = new Fixed({ id: 'own' })
		const served = asking({ blog: new Blog() }, { authenticator: own })
		assert.is(await served.said('/blog/none'), ok({ id: 'own' }))
		assert.is(own.asked, 1)
	})

	test('without argument and without an authenticator it is 500, and the log says what to do', async () => {
		assert.is((await ask('/blog/none')).status, 500)
		assert.is(
			logged(),
			'this.requireAuth() needs an authenticator: pass one, or declare it on the handler or the server',
		)
	})

	test('a refusal has the challenge of the authenticator that refused', async () => {
		class Closed extends RestHandler {
			get_a() {
				return this.requireAuth({ authenticate: () => null, challenge: { 'WWW-Authenticate': 'Other' } })
			}
		}
		const { ask } = asking({ c: new Closed() })
		assert.is((await ask('/c/a')).headers['www-authenticate'], 'Other')
		assert.is((await asking({ blog: new Blog() }).ask('/blog/awaited')).headers['www-authenticate'], 'Bearer')
	})
})

describe('handler: can and requireAcl', (test) => {
	class Checked extends RestHandler {
		get_can(...resources: string[]) {
			return this.can(...resources)
		}
		get_require(...resources: string[]) {
			this.requireAcl(...resources)
			return 'allowed'
		}
		get_nobody() {
			this.user = undefined as unknown as null
			return [this.user, this.can(), this.can('a')]
		}
	}
	const as = (authenticator: Authenticator, rules: Acl = acl): Asking =>
		asking({ c: new Checked() }, { authenticator, acl: rules })
	const table: [string, Authenticator, string][] = [
		['/c/can/a', ann, ok(true)],
		['/c/can/a/b', ann, ok(true)],
		['/c/can/a/no', ann, ok(false)],
		['/c/can/no/a', ann, ok(false)],
		['/c/can', ann, ok(true)],
		['/c/can', nobody, ok(false)],
		['/c/can/a', nobody, ok(false)],
		['/c/require/a', ann, ok('allowed')],
		['/c/require', ann, ok('allowed')],
		['/c/require/a/no', ann, FORBIDDEN],
		['/c/require/a', nobody, UNAUTHORIZED],
		['/c/require', nobody, UNAUTHORIZED],
		['/c/nobody', ann, ok([null, false, false])],
	]
	for (const [request, authenticator, answer] of table) {
		test(`${request} as ${authenticator === ann ? 'ann' : 'nobody'} → ${answer}`, async () => {
			assert.is(await as(authenticator).said(request), answer)
		})
	}

	test('an acl that returns anything but true allows nothing, a promise included', async () => {
		for (const answer of [Promise.resolve(true), 1, 'yes', {}]) {
			const loose = { allows: () => answer as unknown as boolean }
			assert.is(await as(ann, loose).said('/c/can/a'), ok(false))
			assert.is(await as(ann, loose).said('/c/require/a'), FORBIDDEN)
		}
	})

	test('without an acl both are 500, and the log says what to do, whoever calls', async () => {
		for (const authenticator of [ann, nobody]) {
			const { ask, logged } = asking({ c: new Checked() }, { authenticator })
			for (const request of ['/c/can/a', '/c/require/a']) {
				assert.is((await ask(request)).status, 500)
				assert.is(
					logged(),
					'this.can() and this.requireAcl() need an acl: declare it on the handler or the server',
				)
			}
		}
	})
})
