/** Exports and imports by the client: records one by one, progress, and connections that are cut off. */
import * as assert from 'uvu/assert'
import { ApiError, CrudClient } from '../../lib/client/index.ts'
import { CrudHandler, createServer, MemoryModel } from '../../lib/index.ts'
import { articleModel, OPTIONS } from '../crud/articles.ts'
import { describe } from '../helpers/describe.ts'
import { Log, listening } from '../helpers/listening.ts'
import { answering, text } from './answering.ts'

interface Article {
	readonly id: number
	readonly title: string
	readonly rating: number | null
	readonly published: string | null
}

const handlers = () => ({
	article: new CrudHandler(articleModel(), { ...OPTIONS, allow: ['list', 'create', 'export', 'import'] }),
})

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
	const found: T[] = []
	for await (const one of source) found.push(one)
	return found
}

/** A client of an answer that comes in these pieces. */
function answered(pieces: readonly string[], headers: Record<string, string> = {}) {
	const body = new Blob(pieces as string[]).stream()
	const type = { 'content-type': 'application/x-ndjson' }
	return new CrudClient<Article>('article', 'http://localhost', {
		fetch: async () => new Response(body, { headers: { ...type, ...headers } }),
		retries: 0,
	})
}

describe('client/transfer', (test) => {
	test('an export gives all records that match, and reports its progress', async () => {
		await listening(handlers(), {}, async ({ url }) => {
			const articles = new CrudClient<Article>('article', url)
			const seen: unknown[] = []
			const query = { where: { id: { gt: 2 } }, fields: ['id', 'title'], sort: '-id', count: true } as const
			const found = await all(articles.export(query, { onProgress: (progress) => seen.push(progress) }))
			assert.equal(found, [
				{ id: 5, title: 'Title 5' },
				{ id: 4, title: 'Title 4' },
				{ id: 3, title: 'Title 3' },
			])
			assert.equal(seen.at(-1), { records: 3, total: 3 })
			for await (const { id } of articles.export()) if (id === 2) break
			assert.is((await all(articles.export({ limit: 2 }))).length, 2)
		})
	})

	test('an export whose connection is lost, or with a line that is no record, is an ApiError, too', async () => {
		await answering(async (site) => {
			const articles = new CrudClient<Article>('article', site.origin, { retries: 0 })
			const type = { 'content-type': 'application/x-ndjson' }
			const found: Article[] = []
			const failure = async (): Promise<ApiError> => {
				found.length = 0
				try {
					for await (const one of articles.export()) found.push(one)
				} catch (error) {
					assert.instance(error, ApiError, String(error))
					return error as ApiError
				}
				throw new Error('nothing was thrown')
			}
			site.answer = (_request, response) => {
				response.writeHead(200, type).write('{"id":1}\n{"id":2}\n', () => response.destroy())
			}
			const lost = await failure()
			assert.equal([lost.status, lost.code], [200, 'network_error'])
			assert.match(lost.message, /^GET .*\/article got only a part of its answer: /)
			site.answer = text('{"id":1}\n<html>\n{"done":2}\n', 200, type)
			const other = await failure()
			assert.equal([other.code, found], ['unexpected_answer', [{ id: 1 }]])
		})
	})

	test('an export that is aborted rejects with the reason', async () => {
		await answering(async (site) => {
			site.answer = (_request, response) => {
				response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write('{"id":1}\n{"id":2}\n')
			}
			const abort = new AbortController()
			const records = new CrudClient<Article>('article', site.origin).export({}, { signal: abort.signal })
			assert.equal((await records.next()).value, { id: 1 })
			const reason = new Error('enough')
			const pending = records.next().catch((thrown: unknown) => thrown)
			abort.abort(reason)
			assert.is(await pending, reason)
		})
	})

	test('a response that is cut off or no export rejects; a refusal is the usual ApiError', async () => {
		for (const pieces of [['{"id":1}\n'], ['{"id":1}\n{"done":2}\n'], ['{"id":1}\n{"do'], []]) {
			const error = await all(answered(pieces).export()).catch((thrown: unknown) => thrown)
			assert.instance(error, ApiError)
			assert.match((error as ApiError).message, 'was cut off')
		}
		assert.equal(await all(answered(['{"id":1}\n{"id"', ':2}\n{"done":2}\n']).export()), [
			{ id: 1 },
			{ id: 2 },
		])
		const json = answered(['{"success":true,"data":[]}'], { 'content-type': 'application/json' })
		assert.match(String(await all(json.export()).catch((thrown: unknown) => thrown)), 'is not an export')
		await listening(handlers(), {}, async ({ url }) => {
			const articles = new CrudClient<Article>('article', url)
			// @ts-expect-error an export has no pages
			const error = await all(articles.export({ offset: 1 })).catch((thrown: ApiError) => thrown)
			assert.is((error as ApiError).code, 'bad_request')
		})
	})

	test('an import sends records of an array, an iterable or a file, and reports its progress', async () => {
		await listening(handlers(), {}, async ({ url }) => {
			const articles = new CrudClient<Article>('article', url)
			const seen: number[] = []
			const published = new Date('2026-11-20') as unknown as string
			assert.equal(await articles.import([{ title: 'a', published }, { title: 'b' }]), { records: 2 })
			async function* many() {
				for (let at = 0; at < 3_000; at++) yield { title: `t${at}` }
			}
			assert.equal(await articles.import(many(), { onProgress: ({ records }) => seen.push(records) }), {
				records: 3_000,
			})
			assert.ok(seen.length > 2)
			assert.is(seen.at(-1), 3_000)
			const file = new Blob(['title\nc\nTitle 1\n'], { type: 'text/csv' })
			const { problems } = await articles.import(file, { mode: 'check' })
			assert.equal(problems, [{ field: '3.title', code: 'unique', message: 'is taken by another record' }])
			const error = (await articles.import(file).catch((thrown: unknown) => thrown)) as ApiError
			assert.equal([error.status, error.details[0]?.field], [409, '3.title'])
			assert.is(await articles.count(), 3_007)
			const lines = new Blob(['{"title":"d"}\n'], { type: 'application/x-ndjson' })
			assert.equal(await articles.import(lines), { records: 1 })
		})
	})

	test('an import refuses what JSON would lose, as create does, and rejects with what its source throws', async () => {
		await listening(handlers(), {}, async ({ url }) => {
			const clients = [{}, { sign: (request: Request) => request }].map(
				(options) => new CrudClient<Article, object, object>('article', url, options),
			)
			for (const articles of clients) {
				const lossy: unknown[] = [
					{ title: 'a', tags: new Set(['a']) },
					undefined,
					new Map(),
					{ body: new Uint8Array(1) },
				]
				for (const record of lossy) {
					const error = await articles.import([{ title: 'b' }, record as object]).catch((thrown) => thrown)
					assert.instance(error, TypeError)
					assert.is(
						error.message,
						`POST ${url}/article/import: a body is sent as JSON; send files and forms by fetch`,
					)
				}
				const late = await articles.import([{ at: new Date('soon') }]).catch((thrown) => thrown)
				assert.instance(late, RangeError)
				const reason = new Error('no more')
				async function* broken() {
					yield { title: 'c' }
					throw reason
				}
				assert.is(await articles.import(broken()).catch((thrown) => thrown), reason)
				assert.is(await articles.count(), 5)
			}
		})
	})

	test('a record that looks like the end of an export is imported', async () => {
		const counts = new CrudHandler(
			new MemoryModel('count', { fields: { id: 'integer', done: 'integer' }, key: 'id' }),
			{ visible: 'all', creatable: ['done'], allow: ['list', 'import'] },
		)
		await listening({ count: counts }, {}, async ({ url }) => {
			const client = new CrudClient<{ id: number; done: number }>('count', url)
			assert.equal(await client.import([{ done: 0 }]), { records: 1 })
			assert.equal(await client.import([{ done: 5 }, { done: 1 }]), { records: 2 })
			assert.equal((await client.list({ fields: ['done'] })).data, [{ done: 0 }, { done: 5 }, { done: 1 }])
		})
	})

	test('where streams can not be sent, an import is collected first', async () => {
		const server = createServer(handlers(), { logger: new Log(), logRequests: false })
		const bodies: unknown[] = []
		const articles = new CrudClient<Article>('article', 'http://localhost', {
			sign: (request) => request,
			fetch: (url, init) => {
				bodies.push(init.body)
				return server.fetch(new Request(url, init as RequestInit))
			},
		})
		assert.equal(await articles.import([{ title: 'a' }]), { records: 1 })
		assert.instance(bodies[0], Blob)
	})
})
