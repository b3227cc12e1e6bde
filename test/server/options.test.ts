import * as assert from 'uvu/assert'
import { consoleLogger } from '../../lib/base/logger.ts'
import { createServer, MemoryCache, RestHandler, type ServerOptions } from '../../lib/index.ts'
import { settingsOf } from '../../lib/server/options.ts'
import { describe } from '../helpers/describe.ts'

const TIMES = [
	'headersTimeoutSeconds',
	'bodyTimeoutSeconds',
	'handlerTimeoutSeconds',
	'sendTimeoutSeconds',
	'keepAliveTimeoutSeconds',
	'graceTimeoutSeconds',
] as const

/** Values of any type: most users write JavaScript. */
function refusal(options: unknown): Error {
	try {
		createServer({}, options as ServerOptions)
	} catch (error) {
		return error as Error
	}
	return assert.unreachable(`${JSON.stringify(options)} was not refused`) as never
}

describe('options', (test) => {
	test('all have defaults', () => {
		const { cache, logger, ...others } = settingsOf({})
		assert.instance(cache, MemoryCache)
		assert.is(logger, consoleLogger)
		assert.equal(others, {
			base: '',
			authenticator: undefined,
			acl: undefined,
			validator: undefined,
			before: undefined,
			after: undefined,
			onError: undefined,
			trustProxy: undefined,
			hosts: undefined,
			crossSiteWrites: true,
			requestId: undefined,
			openapi: undefined,
			explorer: false,
			health: undefined,
			metrics: undefined,
			logRequests: false,
			serverTiming: false,
			cors: undefined,
			compression: undefined,
			maxBody: 1_048_576,
			maxUnsentBytes: 268_435_456,
			headersTimeoutSeconds: 15,
			bodyTimeoutSeconds: 60,
			handlerTimeoutSeconds: 30,
			sendTimeoutSeconds: 60,
			keepAliveTimeoutSeconds: 72,
			graceTimeoutSeconds: 10,
		})
	})

	test('that are undefined have their defaults', () => {
		const options = Object.fromEntries(['maxBody', 'logger', 'requestId'].map((name) => [name, undefined]))
		const { cache: _, ...settings } = settingsOf(options)
		assert.equal({ ...settings, cache: undefined }, { ...settingsOf({}), cache: undefined })
	})

	test('are returned as given', () => {
		const cache = new MemoryCache({ max: 1 })
		const logger = { info() {}, warn() {}, error() {} }
		const given = settingsOf({
			cache,
			logger,
			base: 'v1',
			trustProxy: 1,
			maxBody: 5,
			graceTimeoutSeconds: 7.5,
		})
		assert.is(given.cache, cache)
		assert.is(given.logger, logger)
		assert.equal([given.base, given.trustProxy], ['v1', 1])
		assert.equal([given.maxBody, given.graceTimeoutSeconds], [5, 7.5])
	})

	for (const name of [
		'maxBody',
		'maxUnsentBytes',
		'bodyTimeoutSeconds',
		'handlerTimeoutSeconds',
		'sendTimeoutSeconds',
	] as const) {
		test(`${name} may be Infinity`, () => {
			assert.is(settingsOf({ [name]: Number.POSITIVE_INFINITY })[name], Number.POSITIVE_INFINITY)
		})
	}

	for (const name of ['headersTimeoutSeconds', 'keepAliveTimeoutSeconds', 'graceTimeoutSeconds'] as const) {
		test(`${name} may not be Infinity`, () => {
			const { message } = refusal({ [name]: Number.POSITIVE_INFINITY })
			assert.is(
				message,
				`createServer: ${name} must be a number of seconds from 0.001 to 2147483, got Infinity`,
			)
		})
	}

	for (const name of TIMES) {
		for (const value of [0, -1, 0.0009, Number.NaN, 2_147_484]) {
			test(`${name}: ${value} is refused`, () => {
				const error = refusal({ [name]: value })
				assert.instance(error, RangeError)
				assert.match(error.message, `${name} must be a number of seconds from 0.001 to 2147483`)
				assert.match(error.message, `got ${value}`)
			})
		}
	}

	const WRONG: [options: unknown, message: string][] = [
		[null, 'the options of createServer must be an object'],
		['fast', 'the options of createServer must be an object'],
		[{ maxbody: 1 }, 'createServer has no option maxbody: did you mean maxBody?'],
		[{ toString: 1 }, 'createServer has no option toString'],
		[
			{ maxBody: 0 },
			'maxBody must be a whole number of bytes from 1 to 9007199254740991, or Infinity, got 0',
		],
		[{ maxBody: '1mb' }, 'or Infinity, got "1mb"'],
		[{ maxBody: null }, 'or Infinity, got null'],
		[{ handlerTimeoutSeconds: '5s' }, 'handlerTimeoutSeconds must be a number of seconds'],
		[
			{ handlerTimeout: 30_000 },
			'createServer has no option handlerTimeout: it is handlerTimeoutSeconds, in seconds (30 for 30_000 ms)',
		],
		[{ handlerTimout: 30 }, 'createServer has no option handlerTimout: did you mean handlerTimeoutSeconds?'],
		[
			{ cache: new Map() },
			'cache must have the methods get, set, delete, add, increment; it lacks add, increment',
		],
		[{ cache: null }, 'cache must have the methods'],
		[{ authenticator: () => null }, 'authenticator must have a method authenticate'],
		[{ acl: {} }, 'acl must have a method allows'],
		[{ validator: {} }, 'validator must have a method validateList'],
		[{ before: null }, 'before must be a function, (view) => …, got null'],
		[{ before: [() => {}] }, 'before must be a function, (view) => …, got an array'],
		[{ after: {} }, 'after must be a function, (view, value) => …, got an object'],
		[{ onError: 'log' }, 'onError must be a function, (view, error) => …, got "log"'],
		[{ logger: { info() {} } }, 'logger must have the methods info, warn, error; it lacks warn, error'],
		[{ logger: 'console' }, 'logger must have the methods'],
		[{ requestId: 'X Request' }, `requestId must be a header's name: 'X-Request-Id', got "X Request"`],
		[{ requestId: '' }, `requestId must be a header's name: 'X-Request-Id', got ""`],
		[{ requestId: 5 }, `requestId must be a header's name: 'X-Request-Id', got 5`],
		[{ requestId: true }, `requestId must be a header's name: 'X-Request-Id', got true`],
		[{ base: 'a//b' }, 'base "a//b" has an empty segment'],
		[{ base: 5 }, 'base must be a string, got 5'],
		[{ trustProxy: true }, 'true would let every client write its own address'],
		[{ trustProxy: '10.0.0.1' }, 'trustProxy must be a number of proxies, or a list'],
	]
	for (const [options, message] of WRONG) {
		test(`${JSON.stringify(options)} is refused: ${message}`, () => {
			const error = refusal(options)
			assert.ok(error instanceof TypeError || error instanceof RangeError, error.name)
			assert.ok(error.message.includes(message), error.message)
		})
	}

	test('base prefixes every handler path', async () => {
		class Site extends RestHandler {
			get_now() {
				return this.request.url
			}
		}
		const server = createServer({ blog: Site, '': Site }, { base: '/api/v1' })
		assert.is((await server.inject({ url: '/api/v1/blog/now' })).status, 200)
		assert.is((await server.inject({ url: '/api/v1/now' })).status, 200)
		assert.is((await server.inject({ url: '/blog/now' })).status, 404)
	})
})
