/** `response()` of a call: what comes with a value, and how failures are reported. */
import * as assert from 'uvu/assert'
import { ApiError, type ApiPromise, client } from '../../lib/client/index.ts'
import { RestHandler, reply } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'

class Garden extends RestHandler {
	get_plants(after?: string) {
		const from = Number(after ?? 0)
		const meta = { limit: 1, offset: 0, next: from < 2 ? String(from + 1) : null, total: 3 }
		return reply([{ id: from }], { meta, headers: { 'X-Total-Count': 3 } })
	}
	get_plant(id: string) {
		if (id === 'none') return this.error('No such plant', 404)
		this.header('ETag', '"7"')
		if (this.request.headers['if-none-match'] === '"7"') this.status(304)
		return { id, planted: new Date(0) }
	}
	post_plant() {
		return reply({ id: '5' }, { status: 201, headers: { Location: '/garden/plant/5' } })
	}
	get_label() {
		return reply(Buffer.from('a,b'), { headers: { 'Content-Type': 'text/csv', ETag: '"8"' } })
	}
	delete_plant(_id: string) {
		return reply(null, { status: 204 })
	}
}

class Bare extends RestHandler {
	override wrap = false
	get_plants() {
		const Link = '</bare/plants?limit=1&cursor=Ng>; rel="next"'
		return reply([{ id: 1 }], { headers: { Link, 'X-Total-Count': 60 } })
	}
	get_plant(id: string) {
		return { id }
	}
}

function withGarden(
	use: (api: ReturnType<typeof client<Garden>>, url: string) => Promise<void>,
): Promise<void> {
	return listening({ garden: new Garden(), bare: new Bare() }, {}, ({ url }) =>
		use(client<Garden>(`${url}/garden`), url),
	)
}

/** The unhandled rejections reported while `use` runs and a little longer. */
async function unheardIn(use: () => Promise<void>): Promise<unknown[]> {
	const unheard: unknown[] = []
	const listen = (reason: unknown) => unheard.push(reason)
	const others = process.listeners('unhandledRejection')
	process.removeAllListeners('unhandledRejection').on('unhandledRejection', listen)
	try {
		await use()
		// Node reports them after all promises of a turn have been handled.
		await new Promise((done) => setImmediate(done))
	} finally {
		process.removeAllListeners('unhandledRejection')
		for (const other of others) process.on('unhandledRejection', other)
	}
	return unheard
}

describe('client(): response()', (test) => {
	test('has the value with meta, status and headers', () =>
		withGarden(async (api) => {
			const { data, meta, status, headers } = await api.get.plants().response()
			assert.equal([data, status], [[{ id: 0 }], 200])
			assert.equal(meta, { limit: 1, offset: 0, next: '1', total: 3 })
			assert.is(headers.get('X-Total-Count'), '3')
			const plant = await api.get.plant('5').response()
			assert.equal(plant.data, { id: '5', planted: '1970-01-01T00:00:00.000Z' })
			assert.equal([plant.headers.get('ETag'), plant.meta], ['"7"', {}])
			const made = await api.post.plant().response()
			assert.equal([made.status, made.headers.get('Location')], [201, '/garden/plant/5'])
			const gone = await api.delete.plant('5').response()
			assert.equal([gone.status, gone.data], [204, null])
		}))

	test('has the Blob of a binary response', () =>
		withGarden(async (api) => {
			const { data, meta, headers } = await api.get.label().response()
			assert.equal([await data.text(), meta, headers.get('ETag')], ['a,b', {}, '"8"'])
		}))

	test('leads from page to page', () =>
		withGarden(async (api) => {
			const seen: number[] = []
			let next: string | null | undefined
			do {
				const { data, meta } = await api.get.plants(next ?? '0').response()
				seen.push(...data.map(({ id }) => id))
				next = meta.next
			} while (typeof next === 'string')
			assert.equal(seen, [0, 1, 2])
		}))

	test('has meta from headers, without envelope', () =>
		withGarden(async (_api, url) => {
			const bare = client<Bare>(`${url}/bare`, { wrap: false })
			assert.equal((await bare.get.plants().response()).meta, { limit: 1, next: 'Ng', total: 60 })
			assert.equal((await bare.get.plant('1').response()).meta, {})
		}))

	test('sends no second request, and keeps the value and the methods of a promise', async () => {
		let asked = 0
		const fetch = async () => {
			asked++
			return Response.json({ success: true, data: { id: '5' } })
		}
		const call = client<Garden>('/garden', { fetch }).get.plant('5')
		const [first, second, data] = await Promise.all([call.response(), call.response(), call])
		assert.equal([first.data, second.data, data], [{ id: '5' }, { id: '5' }, { id: '5' }])
		assert.is(asked, 1)
		assert.instance(call, Promise)
		const steps: string[] = []
		steps.push(await call.finally(() => steps.push('ended')).then(({ id }) => id))
		assert.equal(steps, ['ended', '5'])
	})

	test("rejects with ApiError for a 304 to the caller's own condition", () =>
		withGarden(async (api) => {
			const headers = { 'If-None-Match': '"7"' }
			const error = await api.get
				.plant('5', { headers })
				.response()
				.catch((thrown: unknown) => thrown)
			assert.is(error instanceof ApiError && error.status, 304)
		}))
})

describe('client(): failures', (test) => {
	const fetch = async () => Response.json({ success: false, error: 'no' }, { status: 404 })
	const api = client<Garden>('/garden', { fetch })
	const failing = (): ApiPromise<unknown> => api.get.plant('5')

	test('reject response() once', async () => {
		let caught: unknown
		const unheard = await unheardIn(async () => {
			caught = await failing()
				.response()
				.catch((error: unknown) => error)
		})
		assert.instance(caught, ApiError)
		assert.equal(unheard, [])
	})

	test('that nobody handles are reported once as unhandled rejections', async () => {
		for (const forgotten of [() => failing(), () => failing().response()]) {
			const unheard = await unheardIn(async () => {
				void forgotten()
				await new Promise((done) => setImmediate(done))
			})
			assert.is(unheard.length, 1)
			assert.instance(unheard[0], ApiError)
		}
	})

	test('to send a value reject, and are never thrown', async () => {
		const call = api.get.plant(Number.NaN)
		assert.instance(await call.catch((error: unknown) => error), TypeError)
		assert.instance(await call.response().catch((error: unknown) => error), TypeError)
	})
})
