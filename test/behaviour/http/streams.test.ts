/** Streamed responses: records, bytes, and what happens when either side stops. */
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { RestError, RestHandler } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { listening, until } from '../../helpers/listening.ts'
import { ask, connected, requestText } from '../../helpers/raw.ts'
import { countRecords } from './records.ts'

const RECORD = 'a'.repeat(1_000)

class Site extends RestHandler {
	/** What happened to the sources, in order. */
	readonly events: string[] = []
	readonly stats = { pulled: 0 }

	get_now() {
		return 'now'
	}

	async *get_records(count: string) {
		try {
			for (let id = 0; id < Number(count); id++) {
				this.stats.pulled++
				yield { id, title: 'An article of some length', created: '2026-11-20T00:00:00.000Z' }
			}
		} finally {
			this.events.push('records closed')
		}
	}

	async *get_endless() {
		try {
			for (;;) {
				this.stats.pulled++
				yield RECORD
			}
		} finally {
			this.events.push('endless closed')
		}
	}

	async *get_slow() {
		const { signal } = this.request
		signal.addEventListener('abort', () => this.events.push('aborted'))
		try {
			for (let at = 0; at < 100; at++) {
				yield 'a'.repeat(20_000)
				await sleep(20)
			}
		} finally {
			this.events.push('slow closed')
		}
	}

	/** Yields its first record after the client has disconnected. */
	async *get_tardy() {
		try {
			await sleep(100)
			yield 1
			yield 2
		} finally {
			this.events.push('tardy closed')
		}
	}

	async *get_broken(at: string) {
		for (let id = 0; ; id++) {
			if (id === Number(at)) throw new Error('cursor lost')
			yield RECORD
		}
	}

	async *get_refused() {
		if (this.params.length === 0) throw new RestError('forbidden')
		yield 1
	}

	async *get_unclosable() {
		try {
			for (;;) yield RECORD
		} finally {
			this.events.push('unclosable closed')
			await Promise.reject(new Error('cannot close'))
		}
	}

	get_file(name: string) {
		return createReadStream(name === 'this' ? import.meta.filename : `/nowhere/${name}`)
	}

	get_bytes(count: string) {
		const stream = Readable.from(chunks(Number(count)), { objectMode: false })
		stream.on('close', () => this.events.push('bytes closed'))
		return stream
	}

	get_silent() {
		return new Readable({ read() {} }).on('close', () => this.events.push('silent closed'))
	}

	get_torn() {
		return Readable.from(torn(), { objectMode: false })
	}

	get_web() {
		return new Blob(['of the web']).stream()
	}

	get_empty() {
		return Readable.from([], { objectMode: false })
	}

	get_blank() {
		this.status(204)
		return Readable.from(['never sent'], { objectMode: false })
	}
}

async function* chunks(count: number) {
	for (let at = 0; at < count; at++) yield Buffer.alloc(10_000, 'b')
}

async function* torn() {
	yield 'a'.repeat(200_000)
	await sleep(20)
	throw new Error('disk gone')
}

describe('streamed records', (test) => {
	test('are sent as they are produced, in a JSON array', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			const answer = await ask(port, requestText('GET /records/3'))
			assert.is(answer.headers['transfer-encoding'], 'chunked')
			assert.is(answer.headers['content-type'], 'application/json; charset=utf-8')
			const { data } = answer.json() as { data: { id: number }[] }
			assert.equal(
				data.map(({ id }) => id),
				[0, 1, 2],
			)
			assert.equal((await ask(port, requestText('GET /records/0'))).json(), { success: true, data: [] })
		}))

	test('100,000 of them take no more memory than a few', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			const { count, growth } = await countRecords(port, '/records/100000')
			assert.is(count, 100_000)
			assert.ok(growth < 64 * 1_048_576, `${growth} bytes`)
		}))

	test('are not pulled while the reader is paused', () => {
		const site = new Site()
		return listening({ '': site }, {}, ({ port }) =>
			connected(port, async (client) => {
				client.socket.pause()
				await client.send(requestText('GET /endless'))
				let before = -1
				// The kernel buffers some megabytes before it applies backpressure.
				await until(async () => {
					const same = site.stats.pulled === before && before > 0
					before = site.stats.pulled
					await sleep(100)
					return same
				}, 'an end of pulling')
				const { pulled } = site.stats
				assert.ok(pulled < 30_000, `${pulled} kB`)
				client.socket.resume()
				await until(() => site.stats.pulled > pulled + 1_000, 'pulling again')
				assert.equal(site.events, [])
			}),
		)
	})

	test('have their source closed when the client disconnects, and nothing is logged', () =>
		leave('/endless', ['endless closed']))

	test('have their signal aborted when the client disconnects during a pending record', () =>
		leave('/slow', ['aborted', 'slow closed']))

	test('have their source closed when the client disconnects before the first record', async () => {
		const site = new Site()
		await listening({ '': site }, {}, async ({ port }) => {
			await connected(port, async (client) => {
				await client.send(requestText('GET /tardy'))
				await sleep(30)
			})
			await until(() => site.events.length > 0, 'the end of the source')
			assert.equal(site.events, ['tardy closed'])
		})
	})

	test('have their sources closed when a pipelining client disconnects', async () => {
		const site = new Site()
		await listening({ '': site }, {}, async ({ port }) => {
			await connected(port, async (client) => {
				await client.send(requestText('GET /slow') + requestText('GET /endless'))
				await client.bytes(1)
				await sleep(30)
			})
			await until(() => site.events.includes('endless closed'), 'the end of the source')
			await until(() => site.events.includes('slow closed'), 'the end of the source before it')
		})
	})

	test('whose source fails while closing do not end the process', () =>
		leave('/unclosable', ['unclosable closed']))

	test('that fail before the first record are answered as an error', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			assert.is((await ask(port, requestText('GET /broken/0'))).status, 500)
			assert.is((await ask(port, requestText('GET /refused'))).status, 403)
		}))

	test('that fail after the first record cut the connection, so that the response is not taken for complete', () =>
		listening({ '': Site }, {}, async ({ port, log }) => {
			await connected(port, async (client) => {
				await client.send(requestText('GET /broken/100'))
				await client.closed()
				const text = client.unread.toString()
				assert.match(text, 'HTTP/1.1 200')
				assert.not.match(text, '\r\n0\r\n')
			})
			assert.equal(log.messages, ['error: the answer was cut off'])
			assert.match(String(log.lines[0]?.fields.err), 'cursor lost')
		}))

	test('are sent to an HTTP/1.0 client until the connection is closed', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			const answer = await ask(port, 'GET /records/2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
			assert.is(answer.headers['transfer-encoding'], undefined)
			assert.is(answer.headers.connection, 'close')
			assert.is((answer.json() as { data: unknown[] }).data.length, 2)
		}))

	test('of a HEAD request are not pulled', () => {
		const site = new Site()
		return listening({ '': site }, {}, ({ port }) =>
			connected(port, async (client) => {
				await client.send(requestText('HEAD /endless') + requestText('GET /now'))
				assert.is((await client.response('HEAD')).status, 200)
				assert.equal((await client.response()).json(), { success: true, data: 'now' })
				assert.ok(site.stats.pulled <= 1, 'the first tells whether there is an error')
				assert.equal(site.events, ['endless closed'])
			}),
		)
	})

	function leave(path: string, events: string[]): Promise<void> {
		const site = new Site()
		return listening({ '': site }, {}, async ({ port, log }) => {
			await connected(port, async (client) => {
				await client.send(requestText(`GET ${path}`))
				await client.bytes(50_000)
			})
			await until(() => site.events.length >= events.length, 'the end of the source')
			assert.equal(site.events, events)
			assert.equal(log.messages, [])
		})
	}
})

describe('streamed bodies', (test) => {
	test('a file is sent unchanged', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			const answer = await ask(port, requestText('GET /file/this'))
			assert.is(answer.status, 200)
			assert.is(answer.headers['content-type'], 'application/octet-stream')
			assert.is(answer.headers['content-security-policy'], 'sandbox')
			assert.match(answer.body.toString(), 'a file is sent as it is')
		}))

	test('a missing file → 500, and the connection stays open', () =>
		listening({ '': Site }, {}, ({ port, log }) =>
			connected(port, async (client) => {
				await client.send(requestText('GET /file/missing') + requestText('GET /now'))
				const answer = await client.response()
				assert.is(answer.status, 500)
				assert.not.match(answer.body.toString(), 'nowhere')
				assert.is((await client.response()).status, 200)
				assert.match(String(log.lines[0]?.fields.err), 'ENOENT')
			}),
		))

	test('HEAD of a file sends no body', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			assert.is((await ask(port, requestText('HEAD /file/this'), 'HEAD')).status, 200)
		}))

	test('a web stream, an empty stream, and one under a status without a body are sent correctly', () =>
		listening({ '': Site }, {}, ({ port }) =>
			connected(port, async (client) => {
				await client.send(
					['/web', '/empty', '/blank', '/now'].map((path) => requestText(`GET ${path}`)).join(''),
				)
				assert.is((await client.response()).body.toString(), 'of the web')
				assert.is((await client.response()).body.length, 0)
				assert.is((await client.response()).status, 204)
				assert.equal((await client.response()).json(), { success: true, data: 'now' })
			}),
		))

	test('a source that fails halfway cuts the connection', () =>
		listening({ '': Site }, {}, async ({ port, log }) => {
			await connected(port, async (client) => {
				await client.send(requestText('GET /torn'))
				await client.closed()
				assert.not.match(client.unread.toString('latin1').slice(-10), '0\r\n\r\n')
			})
			assert.equal(log.messages, ['error: the answer was cut off'])
		}))

	test('a stream is destroyed when the client disconnects', () => {
		const site = new Site()
		return listening({ '': site }, {}, async ({ port, log }) => {
			await connected(port, async (client) => {
				client.socket.pause()
				await client.send(requestText('GET /bytes/100000'))
				await sleep(30)
			})
			await until(() => site.events.length > 0, 'the end of the stream')
			assert.equal(log.messages, [])
		})
	})

	test('a stream without bytes is destroyed when the client disconnects, and when its time is over', () => {
		const site = new Site()
		return listening({ '': site }, { handlerTimeoutSeconds: 0.1 }, async ({ port }) => {
			assert.is((await ask(port, requestText('GET /silent'))).status, 503)
			await until(() => site.events.join() === 'silent closed', 'the end of the stream')
			await connected(port, async (client) => {
				await client.send(requestText('GET /silent'))
				await sleep(30)
			})
			await until(() => site.events.length === 2, 'the end of the second')
		})
	})

	test('a logger that fails does not keep a broken answer open', () => {
		const fail = () => {
			throw new Error('the disk is full')
		}
		const logger = { info: fail, warn: fail, error: fail }
		return listening({ '': Site }, { logger }, ({ port }) =>
			connected(port, async (client) => {
				await client.send(requestText('GET /torn'))
				await client.closed()
			}),
		)
	})

	test('pipelined responses arrive complete and in order', () =>
		listening({ '': Site }, {}, ({ port }) =>
			connected(port, async (client) => {
				const paths = ['/bytes/50', '/now', '/records/500', '/bytes/3', '/now']
				await client.send(paths.map((path) => requestText(`GET ${path}`)).join(''))
				const sizes: number[] = []
				for (const _ of paths) sizes.push((await client.response()).body.length)
				assert.equal([sizes[0], sizes[1], sizes[3], sizes[4]], [500_000, 29, 30_000, 29])
			}),
		))
})
