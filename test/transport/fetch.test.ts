/** `server.fetch`: a Request of the Fetch standard in, a Response out. */
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import * as assert from 'uvu/assert'
import { client } from '../../lib/client/index.ts'
import { createServer, RestHandler, type Server, type ServerOptions } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { Log, until } from '../helpers/listening.ts'

class Site extends RestHandler {
	override streaming = ['post_upload', 'post_upper', 'post_first', 'post_behind']
	readonly events: string[] = []

	/** Called by a closing server after all requests have ended. */
	override dispose() {
		this.events.push('disposed')
	}

	get_about() {
		const { host, protocol, ip, url, method } = this.request
		return { host, protocol, ip, url, method, query: this.query }
	}
	get_cookies() {
		this.header('Set-Cookie', ['a=1', 'b=2'])
		return 'größer'
	}
	get_nothing() {
		this.status(204)
		return null
	}
	get_bytes() {
		return Buffer.from([0, 1, 255])
	}
	get_broken() {
		throw new Error('secret')
	}
	post_echo() {
		return this.body
	}
	async post_upload() {
		let size = 0
		for await (const chunk of this.request.stream) size += (chunk as Buffer).length
		return size
	}
	async *post_upper() {
		for await (const chunk of this.request.stream) yield String(chunk).toUpperCase()
	}
	async post_first() {
		for await (const chunk of this.request.stream) return String(chunk)
		return 'none'
	}
	/** Answers, and reads on. */
	post_behind() {
		const { stream } = this.request
		let text = ''
		stream.on('data', (chunk: Buffer) => {
			text += chunk.toString()
		})
		stream.on('end', () => this.events.push(`read ${text}`))
		return 'taken'
	}
	async *get_endless() {
		const { signal } = this.request
		signal.addEventListener('abort', () => this.events.push('aborted'))
		try {
			for (;;) {
				count.made++
				yield 'a'.repeat(16_384)
			}
		} finally {
			this.events.push('closed')
		}
	}
	async *get_cut() {
		yield 'a'.repeat(20_000)
		await turn()
		throw new Error('cursor lost')
	}
	async get_wait() {
		const { signal } = this.request
		this.events.push('waiting')
		await once(signal, 'abort')
		this.events.push('aborted')
		return 'late'
	}
	/** When its client leaves, it takes a while to end. */
	async get_slow() {
		await once(this.request.signal, 'abort')
		for (let at = 0; at < 20; at++) await turn()
		this.events.push('ended')
	}
}

const count = { made: 0 }

interface Given {
	readonly server: Server
	readonly site: Site
	readonly log: Log
	ask(path: string, init?: RequestInit): Promise<Response>
}

async function asked(use: (given: Given) => Promise<void>, options: ServerOptions = {}): Promise<void> {
	const site = new Site()
	const log = new Log()
	const server = createServer(
		{ '': site },
		{ logger: log, logRequests: false, graceTimeoutSeconds: 0.1, ...options },
	)
	const ask = (path: string, init?: RequestInit): Promise<Response> =>
		server.fetch(new Request(new URL(path, 'https://api.example:8443'), init))
	// Deadlines don't keep the process alive, and there is no socket that does.
	const alive = setInterval(() => {}, 10_000)
	try {
		await use({ server, site, log, ask })
	} finally {
		clearInterval(alive)
		await server.close()
	}
}

/** A body whose pieces are made on demand; sets `cancelled` when it is cancelled. */
function pieces(all: Iterable<string>, events: string[] = []): ReadableStream<Uint8Array> {
	const iterator = all[Symbol.iterator]()
	return new ReadableStream(
		{
			pull(controller) {
				const { done, value } = iterator.next()
				if (done === true) controller.close()
				else controller.enqueue(new TextEncoder().encode(value))
			},
			cancel: () => void events.push('cancelled'),
		},
		{ highWaterMark: 0 },
	)
}

function post(body: RequestInit['body'], headers: Record<string, string> = {}): RequestInit {
	// node requires `duplex` for a stream; its types don't have it.
	return { method: 'POST', body, headers, duplex: 'half' } as RequestInit
}

async function failure(work: () => Promise<unknown>): Promise<unknown> {
	try {
		await work()
	} catch (error) {
		return error
	}
	return assert.unreachable('it did not fail')
}

describe('fetch', (test) => {
	test('the URL gives path and host; the address is empty unless it is passed', () =>
		asked(async ({ ask, server }) => {
			const { data } = (await (await ask('/about?a=1#b')).json()) as { data: unknown }
			const about = { protocol: 'https', url: '/about?a=1', method: 'GET', query: { a: '1' } }
			assert.equal(data, { ...about, host: 'api.example:8443', ip: '' })
			const request = new Request('http://[::1]/about', { headers: { Host: 'other.example' } })
			const told = await (await server.fetch(request, { remoteAddress: '10.0.0.7' })).json()
			assert.equal((told as { data: unknown }).data, {
				...about,
				...{ protocol: 'http', host: '[::1]', url: '/about', query: {}, ip: '10.0.0.7' },
			})
		}))

	test('status and headers are as over a socket; cookies stay separate', () =>
		asked(async ({ ask }) => {
			const answer = await ask('/cookies')
			assert.equal([answer.status, answer.statusText, answer.ok], [200, 'OK', true])
			assert.equal(answer.headers.getSetCookie(), ['a=1', 'b=2'])
			assert.is(answer.headers.get('content-type'), 'application/json; charset=utf-8')
			assert.is(await answer.text(), '{"success":true,"data":"größer"}')
			assert.equal(new Uint8Array(await (await ask('/bytes')).arrayBuffer()), new Uint8Array([0, 1, 255]))
			const missing = await ask('/nowhere')
			assert.equal([missing.status, missing.statusText], [404, 'Not Found'])
		}))

	test('HEAD and 204 have no body', () =>
		asked(async ({ ask }) => {
			const head = await ask('/cookies', { method: 'HEAD' })
			assert.equal([head.status, head.body, head.headers.get('content-length')], [200, null, '34'])
			const nothing = await ask('/nothing')
			assert.equal([nothing.status, nothing.body], [204, null])
			assert.is((await ask('/nowhere', { method: 'HEAD' })).body, null)
			assert.is((await ask('/endless', { method: 'HEAD' })).body, null)
		}))

	test('what a method throws is 500, and fetch never rejects', () =>
		asked(async ({ ask, log }) => {
			const answer = await ask('/broken')
			assert.is(answer.status, 500)
			assert.not.match(await answer.text(), 'secret')
			assert.equal(log.messages, ['error: get_broken failed'])
		}))

	test('bodies of every kind are read, under the limits', () =>
		asked(
			async ({ ask }) => {
				const json = { 'Content-Type': 'application/json' }
				for (const body of ['{"a":[1]}', Buffer.from('{"a":[1]}'), pieces(['{"a"', ':[1', ']}'])]) {
					assert.equal(await (await ask('/echo', post(body, json))).json(), {
						success: true,
						data: { a: [1] },
					})
				}
				const form = await ask('/echo', post(new URLSearchParams({ a: 'b c' })))
				assert.equal(await form.json(), { success: true, data: { a: 'b c' } })
				assert.is((await ask('/echo', post('{', json))).status, 400)
				assert.is((await ask('/echo', post(`"${'a'.repeat(3_000)}"`, json))).status, 413)
				const events: string[] = []
				const large = pieces(['"'.repeat(1_500), '"'.repeat(1_500)], events)
				assert.is((await ask('/echo', post(large, json))).status, 413)
				await until(() => events.length === 1, 'the rest is cancelled')
				const none = await ask('/echo', { method: 'POST' })
				assert.equal(await none.json(), { success: true, data: null })
			},
			{ maxBody: 2_000 },
		))

	test('a wrong Content-Length is 400', () =>
		asked(async ({ ask }) => {
			for (const length of ['3', '20']) {
				const headers = { 'Content-Type': 'application/json', 'Content-Length': length }
				assert.is((await ask('/echo', post(pieces(['"abc', 'defg"']), headers))).status, 400, length)
			}
			const right = { 'Content-Type': 'application/json', 'Content-Length': '9' }
			assert.is((await ask('/echo', post(pieces(['"abc', 'defg"']), right))).status, 200)
		}))

	test('a body that takes too long is 408', () =>
		asked(
			async ({ ask }) => {
				const events: string[] = []
				const stuck = new ReadableStream({ cancel: () => void events.push('cancelled') })
				const answer = await ask('/echo', post(stuck, { 'Content-Type': 'application/json' }))
				assert.is(answer.status, 408)
				await until(() => events.length === 1, 'the body is cancelled')
			},
			{ bodyTimeoutSeconds: 0.02 },
		))

	test('a body that fails is 400', () =>
		asked(async ({ ask, log }) => {
			const failing = new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) })
			const answer = await ask('/echo', post(failing, { 'Content-Type': 'application/json' }))
			assert.is(answer.status, 400)
			assert.equal(log.messages, [])
		}))

	test("bytes from another realm are read; an empty chunk doesn't end the body", () =>
		asked(async ({ ask }) => {
			const bytes: unknown = runInNewContext('Uint8Array.of(34, 97, 34)')
			assert.not.instance(bytes, Uint8Array)
			let left = 10_000
			const body = new ReadableStream<unknown>({
				pull(controller) {
					controller.enqueue(left-- > 0 ? new Uint8Array() : bytes)
					if (left < 0) controller.close()
				},
			}) as ReadableStream<Uint8Array>
			const answer = await ask('/echo', post(body, { 'Content-Type': 'application/json' }))
			assert.equal(await answer.json(), { success: true, data: 'a' })
		}))

	test('a body that has been read before, or is being read, is a TypeError that says so', () =>
		asked(async ({ server }) => {
			const read = new Request('https://api.example/echo', post('"a"'))
			await read.text()
			const locked = new Request('https://api.example/echo', post('"a"'))
			locked.body?.getReader()
			for (const request of [read, locked]) {
				const error = await failure(() => server.fetch(request))
				assert.instance(error, TypeError)
				assert.match((error as Error).message, 'something in front has read the body')
			}
		}))

	test("an upload is read at the method's pace, and released when the method stops", () =>
		asked(async ({ ask }) => {
			let made = 0
			function* endless() {
				for (;;) {
					made++
					yield 'a'.repeat(16_384)
				}
			}
			const events: string[] = []
			const first = await ask('/first', post(pieces(endless(), events)))
			assert.equal(await first.json(), { success: true, data: 'a'.repeat(16_384) })
			await until(() => events.length === 1, 'the rest is cancelled')
			assert.ok(made < 20, `${made} pieces were made`)
			const whole = await ask('/upload', post(pieces(Array(100).fill('a'.repeat(10_000)))))
			assert.equal(await whole.json(), { success: true, data: 1_000_000 })
		}))

	test("reading a body in memory doesn't block other requests", () =>
		asked(async ({ ask }) => {
			let made = 0
			function* all() {
				while (made < 5_000) {
					made++
					yield made % 2 === 0 ? '' : 'a'
				}
			}
			let before = 0
			setImmediate(() => {
				before = made
			})
			const answer = await ask('/upload', post(pieces(all())))
			assert.equal(await answer.json(), { success: true, data: 2_500 })
			assert.ok(before < 1_000, `${before} pieces were read in one turn`)
		}))

	test('a method may keep reading after its response', () =>
		asked(async ({ ask, site }) => {
			const answer = await ask('/behind', post(pieces(['a', 'b', 'c'])))
			assert.equal(await answer.json(), { success: true, data: 'taken' })
			await until(() => site.events.length === 1, 'all is read')
			assert.equal(site.events, ['read abc'])
		}))

	test('request and response can stream at the same time', () =>
		asked(async ({ ask }) => {
			let give: (text: string | undefined) => void = () => {}
			const body = new ReadableStream<Uint8Array>({
				start(controller) {
					give = (text) =>
						text === undefined ? controller.close() : controller.enqueue(new TextEncoder().encode(text))
				},
			})
			give('one')
			const answer = await ask('/upper', post(body))
			const reader = answer.body?.getReader()
			const read = async () => new TextDecoder().decode((await reader?.read())?.value)
			assert.is(await read(), '{"success":true,"data":["ONE"')
			give('two')
			assert.is(await read(), ',"TWO"')
			give(undefined)
			assert.is(await read(), ']}')
			assert.equal(await reader?.read(), { done: true, value: undefined })
		}))
})

describe('fetch: clients that leave', (test) => {
	test('no chunk is read ahead; cancelling closes the source, and aborts the signal', () =>
		asked(async ({ ask, site, log }) => {
			count.made = 0
			const answer = await ask('/endless')
			const reader = answer.body?.getReader()
			for (let at = 0; at < 5; at++) await reader?.read()
			// One read takes all that is buffered, up to 64 KiB.
			const { made } = count
			for (let at = 0; at < 20; at++) await turn()
			assert.ok(count.made <= made + 5, `${count.made - made} more were made for nobody`)
			assert.ok(made < 40, `${made} were made`)
			await reader?.cancel()
			await until(() => site.events.length === 2, 'it is closed')
			assert.equal([...site.events].sort(), ['aborted', 'closed'])
			assert.equal(log.messages, [])
		}))

	for (const reason of [new Error('enough'), 'enough', null]) {
		test(`aborting during the response errors its body with the reason: ${String(reason)}`, () =>
			asked(async ({ ask, site, log }) => {
				const leaving = new AbortController()
				const answer = await ask('/endless', { signal: leaving.signal })
				const reader = answer.body?.getReader()
				await reader?.read()
				leaving.abort(reason)
				assert.is(
					await failure(async () => {
						for (;;) if ((await reader?.read())?.done !== false) return
					}),
					reason,
				)
				await until(() => site.events.length === 2, 'it is closed')
				assert.equal(log.messages, [])
			}))
	}

	test("aborting before the answer rejects, and aborts the method's signal", () =>
		asked(async ({ ask, site, log }) => {
			const leaving = new AbortController()
			const answer = ask('/wait', { signal: leaving.signal })
			await until(() => site.events.length === 1, 'it waits')
			const reason = new Error('enough')
			leaving.abort(reason)
			assert.is(await failure(() => answer), reason)
			await until(() => site.events.length === 2, 'it is aborted')
			assert.equal(log.messages, [])
		}))

	test('closing the server waits for a method whose client has left', () =>
		asked(
			async ({ ask, server, site }) => {
				const leaving = new AbortController()
				const answer = ask('/slow', { signal: leaving.signal })
				await turn()
				leaving.abort()
				await failure(() => answer)
				await server.close()
				assert.equal(site.events, ['ended', 'disposed'])
			},
			{ graceTimeoutSeconds: 10 },
		))

	test('aborting during the upload cuts it off', () =>
		asked(async ({ ask }) => {
			const leaving = new AbortController()
			const answer = ask('/upload', {
				...post(new ReadableStream({ pull: () => new Promise(() => {}) })),
				signal: leaving.signal,
			})
			await turn()
			leaving.abort()
			assert.is(((await failure(() => answer)) as Error).name, 'AbortError')
		}))

	test('an already aborted request is not served', () =>
		asked(async ({ ask, site }) => {
			const error = await failure(() => ask('/wait', { signal: AbortSignal.abort() }))
			assert.is((error as Error).name, 'AbortError')
			assert.equal(site.events, [])
		}))

	test('an error after the first byte errors the body, and is logged', () =>
		asked(async ({ ask, log }) => {
			const answer = await ask('/cut')
			assert.is(answer.status, 200)
			assert.is(((await failure(() => answer.text())) as Error).message, 'cursor lost')
			assert.equal(log.messages, ['error: the answer was cut off'])
		}))
})

describe('fetch: with other features', (test) => {
	test('the observer learns how a response ended, complete or not', () =>
		asked(async ({ ask, server }) => {
			const seen: unknown[] = []
			server.on('request', ({ url, status, aborted }) => seen.push([url, status, aborted]))
			await (await ask('/cookies')).text()
			await (await ask('/upper', post(pieces(['a'])))).text()
			await (await ask('/endless')).body?.cancel()
			await failure(async () => (await ask('/cut')).text())
			assert.equal(seen, [
				['/cookies', 200, undefined],
				['/upper', 200, undefined],
				['/endless', 200, true],
				['/cut', 200, true],
			])
		}))

	test('answers are compressed when compression is on', () =>
		asked(
			async ({ ask }) => {
				const answer = await ask('/upper', post(pieces(['a']), { 'Accept-Encoding': 'gzip' }))
				assert.is(answer.headers.get('content-encoding'), 'gzip')
				const body = answer.body?.pipeThrough(new DecompressionStream('gzip'))
				assert.is(await new Response(body).text(), '{"success":true,"data":["A"]}')
			},
			{ compression: true },
		))

	test('closing the server breaks off responses still being sent, and answers 503 from then on', () =>
		asked(async ({ ask, server, site }) => {
			const answer = await ask('/endless')
			const reader = answer.body?.getReader()
			await reader?.read()
			const waiting = ask('/wait')
			await server.close()
			assert.is((await waiting).status, 503)
			assert.is((await ask('/cookies')).status, 503)
			assert.ok(site.events.indexOf('closed') < site.events.indexOf('disposed'), site.events.join())
			await failure(async () => {
				for (;;) if ((await reader?.read())?.done !== false) return
			})
		}))

	test('our client accepts it as its fetch', () =>
		asked(async ({ server }) => {
			const api = client<Site>('https://api.example', {
				fetch: (input, init) => server.fetch(new Request(input, init)),
			})
			assert.equal((await api.get.about()).host, 'api.example')
		}))

	test('it works detached from the server, for hosts that take only `fetch`', async () => {
		const { fetch: answer } = createServer({ '': Site }, { logger: new Log() })
		// As most hosts do: convert node's request to a Request, and write the Response.
		const host = createHttpServer((request, response) => {
			const url = `http://${request.headers.host}${request.url}`
			void answer(new Request(url)).then(async ({ status, headers, body }) => {
				response.writeHead(status, Object.fromEntries(headers))
				for await (const chunk of body ?? []) response.write(chunk)
				response.end()
			})
		})
		await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
		try {
			const { port } = host.address() as AddressInfo
			const { status, headers } = await fetch(`http://127.0.0.1:${port}/about`)
			assert.equal([status, headers.get('x-content-type-options')], [200, 'nosniff'])
		} finally {
			host.closeAllConnections()
			host.close()
		}
	})

	test('a late method is answered 503, also where the shared timer is gone (workerd)', async () => {
		class Slow extends RestHandler {
			async get_slow() {
				await new Promise((resolve) => this.request.signal.addEventListener('abort', resolve))
			}
		}
		const { timers, restore } = sharedTimers()
		try {
			const server = createServer({ '': Slow }, { logger: new Log(), handlerTimeoutSeconds: 0.04 })
			const answer = server.fetch(new Request('http://a.example/slow'))
			await new Promise((resolve) => setImmediate(resolve))
			assert.is(timers.length, 1)
			for (const timer of timers) clearInterval(timer)
			assert.is((await answer).status, 503)
		} finally {
			restore()
		}
	})

	test('a server used only by fetch makes no node server, and closes', async () => {
		const made = process.getActiveResourcesInfo().length
		const server = createServer({ '': Site }, { logger: new Log() })
		assert.is((await server.fetch(new Request('http://a.example/about'))).status, 200)
		await server.close()
		assert.is((await server.fetch(new Request('http://a.example/about'))).status, 503)
		assert.ok(process.getActiveResourcesInfo().length <= made)
	})
})

/** Records the timers made by the global `setInterval`, such as that of the deadlines. */
function sharedTimers(): { timers: NodeJS.Timeout[]; restore(): void } {
	const { setInterval: own } = globalThis
	const timers: NodeJS.Timeout[] = []
	const noting = (...args: Parameters<typeof own>): NodeJS.Timeout => {
		const timer = own(...args)
		timers.push(timer)
		return timer
	}
	globalThis.setInterval = Object.assign(noting, own) as typeof own
	const restore = (): void => {
		globalThis.setInterval = own
	}
	return { timers, restore }
}
