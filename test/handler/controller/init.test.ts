import * as assert from 'uvu/assert'
import { createServer, RestError, RestHandler } from '../../../lib/index.ts'
import { asking, messageOf, ok } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'

class Blog extends RestHandler {
	get_a(): unknown {
		return 'a'
	}
}

const INTERNAL = /^500 \{"success":false,"error":"Internal Server Error","code":"internal"/

describe('controller: init', (test) => {
	class Opened extends RestHandler {
		private readonly log: string[]
		private data?: string
		constructor(log: string[]) {
			super()
			this.log = log
		}
		override async init() {
			this.log.push('init')
			await new Promise(setImmediate)
			this.data = 'loaded'
			this.log.push('done')
		}
		get_a() {
			return this.data
		}
	}

	test('the first request awaits it, and it runs once per instance', async () => {
		const log: string[] = []
		const handler = new Opened(log)
		const { said } = asking({ a: handler, b: handler })
		assert.equal(await Promise.all([said('/a/a'), said('/b/a'), said('/a/a')]), [
			ok('loaded'),
			ok('loaded'),
			ok('loaded'),
		])
		assert.equal(log, ['init', 'done'])
		const again = asking({ c: handler })
		assert.is(await again.said('/c/a'), ok('loaded'))
		assert.equal(log, ['init', 'done'])
	})

	test('two servers that mount an instance before it is ready both wait for it', async () => {
		const log: string[] = []
		const handler = new Opened(log)
		const [one, two] = [asking({ a: handler }), asking({ a: handler })]
		assert.equal(await Promise.all([one.said('/a/a'), two.said('/a/a')]), [ok('loaded'), ok('loaded')])
		assert.equal(log, ['init', 'done'])
	})

	test('a request that has timed out meanwhile is not authenticated afterwards', async () => {
		let resolve = (): void => {}
		const promise = new Promise<void>((done) => {
			resolve = done
		})
		class Slow extends RestHandler {
			override init() {
				return promise
			}
			get_a() {}
		}
		let calls = 0
		const authenticator = {
			authenticate() {
				calls++
				return { id: 'ada' }
			},
		}
		const slow = Object.assign(new Slow(), { authenticator, access: { get_a: 'user' } })
		const { ask } = asking({ a: slow }, { handlerTimeoutSeconds: 0.05 })
		assert.is((await ask('/a/a')).status, 503)
		resolve()
		await new Promise(setImmediate)
		assert.is(calls, 0)
		assert.is((await ask('/a/a')).status, 200)
		assert.is(calls, 1)
	})

	test('it is awaited by listen()', async () => {
		const log: string[] = []
		const server = createServer({ a: new Opened(log) })
		await server.listen(0)
		assert.equal(log, ['init', 'done'])
		await server.close()
	})

	test('the handler can be written to until it has finished, and no longer', async () => {
		const handler = new Opened([])
		const { server, said } = asking({ a: handler })
		assert.not(Object.isFrozen(handler))
		await server.controller.ready()
		assert.ok(Object.isFrozen(handler))
		assert.is(await said('/a/a'), ok('loaded'))
	})

	test('a rejected one rejects listen(), is 500 for its own requests, and leaves others alone', async () => {
		class Failing extends RestHandler {
			override async init() {
				throw new Error('no database')
			}
			get_a() {}
		}
		const { server, said, logged, lines } = asking({ a: new Failing(), b: new Blog() })
		const error = await server.listen(0).catch((reason: unknown) => reason)
		assert.is(String(error), 'Error: no database')
		assert.match(await said('/a/a'), INTERNAL)
		assert.match(await said('/a/a'), INTERNAL)
		assert.is((await server.inject({ url: '/b/a' })).status, 200)
		assert.is(logged(), 'no database')
		assert.is(lines.length, 2)
	})

	test('one that throws synchronously does the same', async () => {
		class Failing extends RestHandler {
			override init() {
				throw new RestError(503, 'Not yet')
			}
			get_a() {}
		}
		const { server } = asking({ a: new Failing() })
		const error = await server.listen(0).catch((reason: unknown) => reason)
		assert.is(String(error), 'RestError: Not yet')
	})

	test('a handler with init that is already frozen is refused', () => {
		assert.is(
			messageOf(() => createServer({ a: Object.freeze(new Opened([])) })),
			'Opened is frozen already, so its init() could not set it up: mount it before freezing it',
		)
	})

	test('a frozen handler without init can be mounted', async () => {
		const { said } = asking({ a: Object.freeze(new Blog()) })
		assert.is(await said('/a/a'), ok('a'))
	})
})
