/** Exports over sockets: readers that are slow, leave or are many, and databases that fail in the middle. */
import { get, type IncomingMessage } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, createServer, MemoryModel } from '../../../lib/index.ts'
import { ModelError } from '../../../lib/models/index.ts'
import type { ListQuery } from '../../../lib/models/model.ts'
import { describe } from '../../helpers/describe.ts'
import { Log, listening, until } from '../../helpers/listening.ts'

/** An endless list of records of 1,000 characters, which fails at the page with this number. */
class Endless extends MemoryModel {
	pages = 0
	failsAt = Number.POSITIVE_INFINITY

	constructor() {
		super('number', { key: 'id', fields: { id: 'integer', text: 'text' } })
	}

	override async list({ limit, after }: ListQuery) {
		if (++this.pages >= this.failsAt) throw new ModelError('unavailable')
		const first = Number(after?.[0] ?? 0) + 1
		const records = Array.from({ length: limit }, (_, at) => ({ id: first + at, text: 'x'.repeat(1_000) }))
		return { json: JSON.stringify(records), next: `[${first + limit - 1}]`, total: undefined }
	}
}

const serve = (model: Endless, options: Partial<CrudOptions> = {}) => ({
	number: new CrudHandler(model, { visible: 'all', allow: ['list', 'export'], ...options }),
})

function open(url: string, accept: string): Promise<IncomingMessage> {
	return new Promise((resolve, reject) => {
		get(`${url}/number`, { headers: { accept }, agent: false }, resolve).on('error', reject)
	})
}

describe('crud/transfer: streams', (test) => {
	test('a reader that stops reading stops the reading of pages; when it leaves, it is over', async () => {
		const model = new Endless()
		await listening(serve(model), {}, async ({ url }) => {
			const response = await open(url, 'text/csv')
			let before = -1
			await until(async () => {
				if (before === model.pages) return true
				before = model.pages
				await setTimeout(100)
				return false
			}, 'no more pages are read')
			// Its sockets hold some megabytes.
			assert.ok(before > 1 && before < 100, `${before} pages`)
			response.resume()
			await until(() => model.pages > before + 5, 'it goes on')
			response.destroy()
			await until(async () => {
				before = model.pages
				await setTimeout(100)
				return model.pages === before
			}, 'no page is read for a reader that has left')
		})
	})

	test('one caller may run two, all together maxTransfers; those that end make room', async () => {
		const model = new Endless()
		const options = { trustProxy: 1 } as const
		const handlers = serve(model, { maxTransfers: 3 })
		const log = new Log()
		const server = createServer(handlers, { logger: log, logRequests: false, ...options })
		const ask = async (from: string) => {
			const request = new Request('http://localhost/number', {
				headers: { accept: 'application/x-ndjson', 'x-forwarded-for': from },
			})
			return server.fetch(request)
		}
		const [first, second, third] = [await ask('10.0.0.1'), await ask('10.0.0.1'), await ask('10.0.0.1')]
		assert.equal([first.status, second.status, third.status], [200, 200, 429])
		assert.is(third.headers.get('retry-after'), '5')
		assert.match(await third.text(), '2 exports of yours are running')
		const other = await ask('10.0.0.2')
		assert.is(other.status, 200)
		const refused = await ask('10.0.0.3')
		assert.is(refused.status, 503)
		assert.match(await refused.text(), 'Too many exports are running')
		for (const one of [first, second, other]) await one.body?.cancel()
		await until(async () => {
			const again = await ask('10.0.0.3')
			await again.body?.cancel()
			return again.status === 200
		}, 'there is room again')
		await server.close()
	})

	for (const accept of ['application/x-ndjson', 'text/csv'])
		test(`a database that fails in the middle cuts ${accept} off`, async () => {
			const model = new Endless()
			model.failsAt = 4
			await listening(serve(model), {}, async ({ url, log }) => {
				const response = await open(url, accept)
				const chunks: Buffer[] = []
				const end = await new Promise<string>((resolve) => {
					response.on('data', (chunk: Buffer) => chunks.push(chunk))
					response.on('end', () => resolve('complete'))
					response.on('error', ({ message }) => resolve(message))
				})
				assert.is(end, 'aborted')
				const text = Buffer.concat(chunks).toString()
				assert.ok(text.length > 100_000)
				assert.not.match(text, '"done"')
				assert.equal(log.messages, ['error: the answer was cut off'])
			})
		})

	test('a failure before the first page is answered', async () => {
		const model = new Endless()
		model.failsAt = 1
		await listening(serve(model), {}, async ({ url }) => {
			const response = await fetch(`${url}/number`, { headers: { accept: 'text/csv' } })
			assert.is(response.status, 503)
			assert.match(await response.text(), '"code":"unavailable"')
			assert.is(response.headers.get('content-disposition'), null)
		})
	})

	test('it is compressed, and outlives handlerTimeoutSeconds', async () => {
		const model = new Endless()
		const options = { compression: true, handlerTimeoutSeconds: 0.05 } as const
		await listening(serve(model), options, async ({ url }) => {
			const response = await fetch(`${url}/number?limit=3000`, {
				headers: { accept: 'application/x-ndjson' },
			})
			assert.ok(response.headers.get('content-encoding'))
			const reader = response.body?.getReader()
			const first = await reader?.read()
			await setTimeout(1_200)
			let text = new TextDecoder().decode(first?.value)
			for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
				text += new TextDecoder().decode(next.value)
			assert.match(text, /\n\{"done":3000\}\n$/)
		})
	})
})
