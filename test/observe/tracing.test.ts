/** The tracing channel `verbena:request`, and `this.request.traceparent`. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import * as assert from 'uvu/assert'
import { createServer, type RequestTrace, RestError, RestHandler } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening, until } from '../helpers/listening.ts'

const CHANNEL: TracingChannel<unknown, RequestTrace> = tracingChannel('verbena:request')
const current = new AsyncLocalStorage<unknown>()

class Blog extends RestHandler {
	get_sync() {
		return current.getStore() ?? null
	}

	async get_async() {
		await new Promise((resolve) => setImmediate(resolve))
		return current.getStore() ?? null
	}

	post_body() {
		return [this.body, current.getStore() ?? null]
	}

	get_broken() {
		throw new TypeError('secret')
	}

	get_refused() {
		throw new RestError('conflict')
	}

	async get_slow() {
		await once(this.request.signal, 'abort')
	}

	/** The context of each record: in pieces large enough that somebody waits for the client. */
	async *get_records() {
		for (let at = 0; at < 20; at++) {
			yield [current.getStore() ?? null, ' '.repeat(20_000)]
			if (at % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
		}
	}

	get_bytes() {
		return Readable.from(this.pieces(), { objectMode: false })
	}

	private async *pieces() {
		for await (const [store] of this.get_records()) yield `${String(store).padEnd(20_000)}\n`
	}

	get_traceparent() {
		return this.request.traceparent ?? null
	}
}

/** What was told, in order, and of what. */
interface Told {
	readonly what: string
	readonly trace: RequestTrace
	/** As it was then. */
	readonly action: string | undefined
	readonly status: number | undefined
}

/** Subscribes while `use` runs. */
async function subscribed(use: (told: Told[]) => Promise<void>): Promise<void> {
	const told: Told[] = []
	const note = (what: string) => (trace: RequestTrace) =>
		void told.push({ what, trace, action: trace.action, status: trace.status })
	const subscribers = {
		start: note('start'),
		end: note('end'),
		asyncStart: note('asyncStart'),
		asyncEnd: note('asyncEnd'),
		error: note('error'),
	}
	CHANNEL.subscribe(subscribers)
	try {
		await use(told)
	} finally {
		CHANNEL.unsubscribe(subscribers)
	}
}

async function overTold(told: readonly Told[], count = 1): Promise<void> {
	await until(() => told.filter(({ what }) => what === 'asyncEnd').length >= count, `${count} ends`)
}

describe('tracing channel', (test) => {
	for (const action of ['get_sync', 'get_async']) {
		test(`${action} is traced from its start to the end of its response`, () =>
			listening({ blog: new Blog() }, {}, async ({ url }) => {
				await subscribed(async (told) => {
					await (await fetch(`${url}/blog/${action.slice(4)}?a=1`)).text()
					await overTold(told)
					assert.equal(
						told.map(({ what, action, status }) => [what, action, status]),
						[
							['start', undefined, undefined],
							['end', action, undefined],
							['asyncStart', action, 200],
							['asyncEnd', action, 200],
						],
					)
					assert.is(new Set(told.map(({ trace }) => trace)).size, 1)
					const [{ trace } = assert.unreachable() as never] = told
					assert.equal([trace.request.method, trace.request.url], ['GET', `/blog/${action.slice(4)}?a=1`])
					assert.equal([trace.handler, trace.aborted, trace.error], ['Blog', false, undefined])
					assert.is(trace.bytes, '{"success":true,"data":null}'.length)
				})
			}))
	}

	test('a thrown error is published before the end', () =>
		listening({ blog: new Blog() }, {}, async ({ url }) => {
			await subscribed(async (told) => {
				await (await fetch(`${url}/blog/broken`)).text()
				await overTold(told)
				assert.equal(
					told.map(({ what }) => what),
					['start', 'error', 'end', 'asyncStart', 'asyncEnd'],
				)
				const { trace } = told[0] ?? {}
				assert.equal([trace?.status, String(trace?.error)], [500, 'TypeError: secret'])
			})
		}))

	test('a refusal is not an error', () =>
		listening({ blog: new Blog() }, {}, async ({ url }) => {
			await subscribed(async (told) => {
				await (await fetch(`${url}/blog/refused`)).text()
				await (await fetch(`${url}/nowhere`)).text()
				await overTold(told, 2)
				assert.not(told.some(({ what }) => what === 'error'))
				const ends = told.filter(({ what }) => what === 'asyncEnd')
				assert.equal(
					ends.map(({ trace }) => [trace.handler, trace.status]),
					[
						['Blog', 409],
						[undefined, 404],
					],
				)
			})
		}))

	test('a client that disconnects ends the trace, as aborted', () =>
		listening({ blog: new Blog() }, {}, async ({ url }) => {
			await subscribed(async (told) => {
				const asked = request(`${url}/blog/slow`).end()
				asked.on('error', () => {})
				await until(() => told.length === 2, 'it has begun')
				asked.destroy()
				await overTold(told)
				assert.equal([told.at(-1)?.trace.aborted, told.at(-1)?.status], [true, undefined])
			})
		}))

	test("a store bound at the start is the method's context, separate for each request", () =>
		listening({ blog: new Blog() }, {}, async ({ url }) => {
			CHANNEL.start.bindStore(current, ({ request }) => request.header('x-span'))
			try {
				const paths = ['sync', 'async', 'async', 'sync', 'async']
				const answers = await Promise.all(
					paths.map(async (path, at) => {
						const response = await fetch(`${url}/blog/${path}`, { headers: { 'X-Span': String(at) } })
						return ((await response.json()) as { data: unknown }).data
					}),
				)
				assert.equal(answers, ['0', '1', '2', '3', '4'])
				const posted = await fetch(`${url}/blog/body`, {
					method: 'POST',
					headers: { 'X-Span': 'p', 'Content-Type': 'application/json' },
					body: JSON.stringify('x'.repeat(200_000)),
				})
				const { data } = (await posted.json()) as { data: [string, string] }
				assert.equal([data[0].length, data[1]], [200_000, 'p'])
			} finally {
				CHANNEL.start.unbindStore(current)
			}
		}))

	test('it is also the context of a streamed response, whoever pulls', () =>
		listening({ blog: new Blog() }, { compression: true }, async ({ url, server }) => {
			CHANNEL.start.bindStore(current, ({ request }) => request.header('x-span'))
			try {
				const paths = ['records', 'bytes', 'records', 'bytes']
				const ways: ((
					path: string,
					headers: Record<string, string>,
				) => Promise<{ text(): string | Promise<string> }>)[] = [
					(path, headers) => fetch(`${url}${path}`, { headers }),
					(path, headers) => server.fetch(new Request(`http://a${path}`, { headers })),
					(path, headers) => server.inject({ url: path, headers }),
				]
				for (const [way, ask] of ways.entries()) {
					const found = await Promise.all(
						paths.map(async (path, at) => {
							// Over the socket, compressed: it is read from another thread's events.
							const headers = { 'X-Span': String(at), 'Accept-Encoding': way === 0 ? 'gzip' : 'identity' }
							const answer = await ask(`/blog/${path}`, headers)
							const text = await answer.text()
							const records = /^\{/.test(text)
								? (JSON.parse(text) as { data: [unknown][] }).data.map(([store]) => String(store))
								: text.trimEnd().split(/ +\n?/)
							assert.is(records.length, 20)
							return [...new Set(records)].join()
						}),
					)
					assert.equal(found, ['0', '1', '2', '3'], `way ${way}`)
				}
			} finally {
				CHANNEL.start.unbindStore(current)
			}
		}))

	test('a generator left early is closed', () =>
		listening({ blog: new Blog() }, {}, async ({ server }) => {
			await subscribed(async (told) => {
				const answer = await server.fetch(new Request('http://a/blog/records'))
				const reader = answer.body?.getReader()
				await reader?.read()
				await reader?.cancel()
				await overTold(told)
				assert.is(told.at(-1)?.trace.aborted, true)
			})
		}))

	test('without subscribers no request is observed', async () => {
		const server = createServer({ blog: new Blog() })
		await server.inject({ url: '/blog/sync' })
		await subscribed(async (told) => {
			await server.inject({ url: '/blog/sync' })
			assert.is(told.length, 4)
		})
		await server.inject({ url: '/blog/sync' })
		assert.not(CHANNEL.hasSubscribers)
	})

	test('health probes are not traced', async () => {
		const server = createServer({}, { health: { path: 'health' } })
		await subscribed(async (told) => {
			await server.inject({ url: '/health/ready' })
			assert.is(told.length, 0)
		})
	})
})

describe('request.traceparent', (test) => {
	const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
	test('is the header, or undefined where malformed; no response has one', () =>
		listening({ blog: new Blog() }, {}, async ({ url }) => {
			for (const [sent, found] of [
				[TRACE, TRACE],
				[`${TRACE}x`, null],
				['', null],
			] as const) {
				const response = await fetch(`${url}/blog/traceparent`, { headers: { traceparent: sent } })
				assert.equal(await response.json(), { success: true, data: found })
				assert.is(response.headers.get('traceparent'), null)
			}
		}))
})
