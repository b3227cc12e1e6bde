/** `dispose()`: called when the server is closed, once per handler, last mounted first. */
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as assert from 'uvu/assert'
import { createServer, RestHandler, type ServerOptions } from '../../../lib/index.ts'
import { messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { Log, listening, until } from '../../helpers/listening.ts'

/** A gate for waiting code. */
function gate(): { readonly passed: Promise<void>; open(): void } {
	let open = (): void => {}
	const passed = new Promise<void>((resolve) => {
		open = resolve
	})
	return { passed, open: () => open() }
}

class Opened extends RestHandler {
	readonly name: string
	readonly log: string[]
	constructor(name: string, log: string[]) {
		super()
		this.name = name
		this.log = log
	}
	override init(): void | Promise<void> {
		this.log.push(`${this.name} init`)
	}
	override async dispose() {
		this.log.push(`${this.name} begins`)
		await new Promise(setImmediate)
		this.log.push(`${this.name} ends`)
	}
	get_a(): unknown {
		return this.name
	}
}

function silent(): { logger: Log; graceTimeoutSeconds: number; logRequests: boolean } {
	return { logger: new Log(), graceTimeoutSeconds: 0.1, logRequests: false }
}

describe('controller: dispose', (test) => {
	test('it is called when the server closes, last mounted first, one after the other', async () => {
		const log: string[] = []
		await listening({ a: new Opened('a', log), b: new Opened('b', log) }, {}, async ({ server, url }) => {
			assert.is((await fetch(`${url}/a/a`)).status, 200)
			server.controller.service('c', new Opened('c', log))
			assert.equal(log, ['a init', 'b init', 'c init'])
		})
		assert.equal(log.slice(3), ['c begins', 'c ends', 'b begins', 'b ends', 'a begins', 'a ends'])
	})

	test('close() waits for it, and calls it once, however often it is called', async () => {
		const log: string[] = []
		const server = createServer({ a: new Opened('a', log) }, silent())
		await server.listen()
		await Promise.all([server.close(), server.close()])
		await server.close()
		assert.equal(log, ['a init', 'a begins', 'a ends'])
	})

	test('a server that never listened calls it, too', async () => {
		const log: string[] = []
		const server = createServer({ a: new Opened('a', log) }, silent())
		await server.inject({ url: '/a/a' })
		await server.close()
		assert.equal(log, ['a init', 'a begins', 'a ends'])
	})

	test('it waits for a running init', async () => {
		const log: string[] = []
		const { passed, open } = gate()
		class Slow extends Opened {
			override async init() {
				await passed
				log.push('init')
			}
		}
		const server = createServer({ a: new Slow('a', log) }, silent())
		const closing = server.close()
		setImmediate(open)
		await closing
		assert.equal(log, ['init', 'a begins', 'a ends'])
	})

	test('a handler whose init has failed is not disposed of', async () => {
		const log: string[] = []
		class Failing extends Opened {
			override async init() {
				throw new Error('no database')
			}
		}
		const server = createServer({ a: new Failing('a', log), b: new Opened('b', log) }, silent())
		await server.close()
		assert.equal(log, ['b init', 'b begins', 'b ends'])
	})

	test('it is called after the last response', async () => {
		const log: string[] = []
		const { passed, open } = gate()
		class Busy extends Opened {
			override async get_a() {
				log.push('get_a begins')
				await passed
				log.push('get_a ends')
			}
		}
		const options = { ...silent(), graceTimeoutSeconds: 5 }
		const server = createServer({ a: new Busy('a', log) }, options)
		const { url } = await server.listen()
		const answer = fetch(`${url}/a/a`)
		await until(() => log.includes('get_a begins'), 'the method runs')
		const closing = server.close()
		await new Promise(setImmediate)
		open()
		assert.is((await answer).status, 200)
		await closing
		assert.equal(log.slice(1), ['get_a begins', 'get_a ends', 'a begins', 'a ends'])
	})

	for (const kind of ['inject', 'another server']) {
		test(`it is called after a response to ${kind}`, async () => {
			const log: string[] = []
			const { passed, open } = gate()
			class Busy extends Opened {
				override async get_a() {
					log.push('get_a begins')
					await passed
					log.push('get_a ends')
				}
			}
			const server = createServer({ a: new Busy('a', log) }, { ...silent(), graceTimeoutSeconds: 5 })
			const outer = createHttpServer(server.handler)
			await new Promise<void>((resolve) => outer.listen(0, '127.0.0.1', resolve))
			const { port } = outer.address() as AddressInfo
			const answer =
				kind === 'inject' ? server.inject({ url: '/a/a' }) : fetch(`http://127.0.0.1:${port}/a/a`)
			await until(() => log.includes('get_a begins'), 'the method runs')
			const closing = server.close()
			// Time enough for a dispose that did not wait.
			for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
			open()
			assert.is((await answer).status, 200)
			await closing
			assert.equal(log.slice(1), ['get_a begins', 'get_a ends', 'a begins', 'a ends'])
			outer.closeAllConnections()
			await new Promise((resolve) => outer.close(resolve))
		})
	}

	test('it is called when the grace period is over, and waiting requests are answered 503', async () => {
		const log: string[] = []
		class Hanging extends Opened {
			override async get_a() {
				const { signal } = this.request
				log.push('get_a begins')
				await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
				log.push('get_a is told')
			}
		}
		const server = createServer({ a: new Hanging('a', log) }, silent())
		const answer = server.inject({ url: '/a/a' })
		await until(() => log.includes('get_a begins'), 'the method runs')
		await server.close()
		assert.is((await answer).status, 503)
		assert.equal(log.slice(1), ['get_a begins', 'get_a is told', 'a begins', 'a ends'])
	})
})

describe('controller: dispose of one instance', (test) => {
	test('mounted twice: called once', async () => {
		const log: string[] = []
		const handler = new Opened('a', log)
		const server = createServer({ a: handler, b: handler }, silent())
		await server.close()
		assert.equal(log, ['a init', 'a begins', 'a ends'])
	})

	test('mounted by two servers: called when the last of them is closed', async () => {
		const log: string[] = []
		const handler = new Opened('a', log)
		const [one, two] = [createServer({ a: handler }, silent()), createServer({ b: handler }, silent())]
		await one.close()
		assert.equal(log, ['a init'])
		assert.is((await two.inject({ url: '/b/a' })).status, 200)
		await two.close()
		assert.equal(log, ['a init', 'a begins', 'a ends'])
	})

	test('mounted on a closed server: refused, even where it was the first mount', async () => {
		const server = createServer({}, silent())
		await server.close()
		assert.is(
			messageOf(() => server.controller.service('a', new Opened('a', []))),
			'Opened.dispose() would never be called, because the server has been closed',
		)
	})

	test('mounted by a server whose creation failed: called when the next one is closed', async () => {
		const log: string[] = []
		const handler = new Opened('a', log)
		assert.throws(
			() => createServer({ a: handler, 'a/': handler }, silent()),
			(error: unknown) => error instanceof TypeError,
		)
		await createServer({ a: handler }, silent()).close()
		assert.equal(log, ['a init', 'a begins', 'a ends'])
	})

	test('an instance that was disposed of cannot be mounted again', async () => {
		const handler = new Opened('a', [])
		const server = createServer({ a: handler }, silent())
		await server.close()
		assert.is(
			messageOf(() => createServer({ a: handler })),
			'Opened was disposed of with the server that had mounted it: mount a new one',
		)
		assert.is(
			messageOf(() => server.controller.service('b', new Opened('b', []))),
			'Opened.dispose() would never be called, because the server has been closed',
		)
	})

	test('an instance without dispose can be mounted again', async () => {
		class Plain extends RestHandler {
			get_a() {}
		}
		const handler = new Plain()
		await createServer({ a: handler }, silent()).close()
		const server = createServer({ a: handler }, silent())
		assert.is((await server.inject({ url: '/a/a' })).status, 200)
	})

	test('an instance created from its class is disposed of', async () => {
		const log: string[] = []
		class Made extends Opened {
			constructor() {
				super('made', log)
			}
		}
		await createServer({ a: Made }, silent()).close()
		assert.equal(log, ['made init', 'made begins', 'made ends'])
	})

	test('an instance frozen at mount can close what it holds, but not write its fields', async () => {
		class Holding extends RestHandler {
			get_a() {}
			readonly held = { open: true }
			override dispose() {
				assert.ok(Object.isFrozen(this))
				this.held.open = false
			}
		}
		const handler = new Holding()
		await createServer({ a: handler }, silent()).close()
		assert.is(handler.held.open, false)
	})

	test('an instance frozen before the mount is refused', () => {
		class Frozen extends RestHandler {
			get_a() {}
			override dispose() {}
		}
		assert.is(
			messageOf(() => createServer({ a: Object.freeze(new Frozen()) })),
			'Frozen is frozen already, so its dispose() could never be called: mount it before freezing it',
		)
	})

	test('an instance made by a factory is refused: nothing would dispose of it', () => {
		class Private extends RestHandler {
			get_a() {}
			override dispose() {}
		}
		assert.is(
			messageOf(() => createServer({ a: () => new Private() })),
			'Private.dispose() would never be called, because "a" is mounted as a factory: close what it holds where it was opened',
		)
	})
})

describe('controller: dispose that fails', (test) => {
	test('is logged; the others are called, and close() resolves', async () => {
		const log: string[] = []
		class Rejecting extends Opened {
			override async dispose() {
				throw new Error('cannot')
			}
		}
		class Throwing extends Opened {
			override dispose(): Promise<void> {
				throw new Error('at once')
			}
		}
		const options = silent()
		const handlers = {
			a: new Opened('a', log),
			b: new Rejecting('b', log),
			c: new Throwing('c', log),
			d: new Opened('d', log),
		}
		await createServer(handlers, options).close()
		assert.equal(log.slice(4), ['d begins', 'd ends', 'a begins', 'a ends'])
		assert.equal(
			options.logger.lines.map(({ level, message, fields }) => [
				level,
				message,
				fields.handler,
				String(fields.err),
			]),
			[
				['error', 'a handler could not be disposed of', 'Throwing', 'Error: at once'],
				['error', 'a handler could not be disposed of', 'Rejecting', 'Error: cannot'],
			],
		)
	})

	test('and a failing logger do not prevent the others', async () => {
		const log: string[] = []
		class Hanging extends Opened {
			override dispose() {
				return new Promise<void>(() => {})
			}
		}
		class Throwing extends Opened {
			override async dispose() {
				throw new Error('cannot')
			}
		}
		const logger = new Log()
		logger.error = () => {
			throw new Error('the disk is full')
		}
		const handlers = {
			a: new Opened('a', log),
			b: new Hanging('b', log),
			c: new Opened('c', log),
			d: new Throwing('d', log),
		}
		await createServer(handlers, { ...silent(), logger }).close()
		assert.equal(log.slice(4, 7), ['c begins', 'c ends', 'a begins'])
	})

	test('to settle in time is logged: close() resolves, and the others are called', async () => {
		const log: string[] = []
		class Hanging extends Opened {
			override dispose() {
				log.push('hangs')
				return new Promise<void>(() => {})
			}
		}
		const options = silent()
		await createServer({ a: new Opened('a', log), b: new Hanging('b', log) }, options).close()
		assert.equal(log.slice(2, 4), ['hangs', 'a begins'])
		assert.equal(options.logger.messages.slice(0, 1), ['error: a handler was not disposed of within 100 ms'])
	})

	test('is not logged for a handler with suppressOutput', async () => {
		class Silent extends RestHandler {
			override suppressOutput = true
			get_a() {}
			override dispose() {
				throw new Error('cannot')
			}
		}
		const options: ServerOptions & { logger: Log } = silent()
		await createServer({ a: Silent }, options).close()
		assert.equal(options.logger.messages, [])
	})
})

describe('server: await using', (test) => {
	test('closes the server', async () => {
		const log: string[] = []
		const server = createServer({ a: new Opened('a', log) }, silent())
		const { url } = await server.listen()
		await server[Symbol.asyncDispose]()
		assert.equal(log, ['a init', 'a begins', 'a ends'])
		assert.is(await fetch(url).catch(() => 'refused'), 'refused')
	})
})
