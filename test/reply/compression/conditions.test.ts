/** Conditional requests for compressed responses: 304, 412, and their ETags in our client and in signatures. */
import * as assert from 'uvu/assert'
import { CrudClient, etagOf, signRequest } from '../../../lib/client/index.ts'
import {
	CrudHandler,
	type CrudValues,
	HmacAuthenticator,
	MemoryModel,
	RestHandler,
	type ServerOptions,
} from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { listening, type Site } from '../../helpers/listening.ts'
import { ask, type RawResponse, requestText } from '../../helpers/raw.ts'

interface Article {
	readonly id: number
	readonly title: string
	readonly revision: number
}

/** Answers with a tag of its own. */
class Tagged extends RestHandler {
	get_weak() {
		this.header('ETag', 'W/"w"')
		return 'weak'
	}
	/** With the header that the path names, and 304 where it is asked whether it has changed. */
	get_with(name: string, value: string) {
		this.header('ETag', '"a"')
		this.header(name, value)
		if (this.request.header('If-None-Match') !== undefined) this.status(304)
		return ['a list']
	}
	get_conditions() {
		const { headers } = this.request
		return [headers['if-match'] ?? null, headers['if-none-match'] ?? null, headers['if-range'] ?? null]
	}
}

/** Whose versions are known beforehand. */
class Articles extends CrudHandler {
	override create(values: CrudValues) {
		return super.create({ ...values, revision: 1 })
	}
}

function articles(): CrudHandler {
	const model = new MemoryModel('article', {
		key: 'id',
		fields: { id: 'integer', title: 'text', revision: { type: 'integer', default: 1 } },
	})
	const allow = ['list', 'read', 'create', 'update', 'replace', 'remove'] as const
	return new Articles(model, { visible: 'all', updatable: ['title'], version: 'revision', allow })
}

const ON: ServerOptions = { compression: { threshold: 0, encodings: ['br', 'gzip'] } }

async function inUse(
	use: (site: Site, client: CrudClient<Article>) => Promise<void>,
	options: ServerOptions = {},
): Promise<void> {
	await listening({ article: articles(), '': Tagged }, { ...ON, ...options }, async (site) => {
		const client = new CrudClient<Article>('article', site.url)
		await use(site, client)
	})
}

function sent(port: number, line: string, ...headers: string[]): Promise<RawResponse> {
	const body = line.startsWith('PATCH') ? '{"title":"new"}' : ''
	const type = body === '' ? [] : ['Content-Type: application/json']
	return ask(port, requestText(line, [...type, ...headers], body))
}

describe('compression: conditions', (test) => {
	test('a record has a strong ETag for each coding, and one without', () =>
		inUse(async ({ port }, client) => {
			await client.create({ title: 'a' })
			for (const [encodings, tag] of [
				['br', '"1;br"'],
				['gzip', '"1;gzip"'],
				['identity', '"1"'],
			]) {
				const { headers } = await sent(port, 'GET /article/1', `Accept-Encoding: ${encodings}`)
				assert.is(headers.etag, tag)
			}
			const { headers } = await sent(port, 'GET /weak', 'Accept-Encoding: br')
			assert.equal([headers.etag, headers['content-encoding']], ['W/"w"', 'br'])
		}))

	const known: [named: string, encodings: string, status: number, tag: string][] = [
		['"1;br"', 'br', 304, '"1;br"'],
		['"1;br"', 'gzip', 304, '"1;br"'],
		['"1"', 'br', 304, '"1"'],
		['W/"1;gzip"', 'gzip', 304, '"1;gzip"'],
		['"1;zstd"', 'gzip', 304, '"1;zstd"'],
		['"9;gzip", "1;gzip"', 'gzip', 304, '"1;gzip"'],
		['*', 'br', 304, '"1"'],
		['"2;br"', 'br', 200, '"1;br"'],
		['"1;zip"', 'br', 200, '"1;br"'],
	]
	for (const [named, encodings, status, tag] of known) {
		test(`If-None-Match: ${named} with Accept-Encoding ${encodings} is ${status}, with ${tag}`, () =>
			inUse(async ({ port }, client) => {
				await client.create({ title: 'a' })
				const conditions = [`If-None-Match: ${named}`, `Accept-Encoding: ${encodings}`]
				const answer = await sent(port, 'GET /article/1', ...conditions)
				assert.is(answer.status, status)
				assert.is(answer.headers.etag, tag)
				assert.is(answer.headers.vary, 'Accept-Encoding')
			}))
	}

	for (const [name, value, vary] of [
		['Cache-Control', 'private, no-transform', undefined],
		['Content-Encoding', 'aes128gcm', undefined],
		['Accept-Ranges', 'bytes', undefined],
		['Repr-Digest', 'sha-256=:a:', undefined],
		['Content-Type', 'image/png', undefined],
		['Content-Type', 'text/csv', 'Accept-Encoding'],
		['Cache-Control', 'max-age=60', 'Accept-Encoding'],
	] as const) {
		test(`a 304 with ${name}: ${value} has the Vary of its 200, which is ${vary ?? 'none'}`, () =>
			inUse(async ({ port }) => {
				const line = `GET /with/${name}/${encodeURIComponent(value)}`
				for (const more of [[], ['If-None-Match: "a"']]) {
					const { headers } = await sent(port, line, 'Accept-Encoding: br', ...more)
					assert.is(headers.vary, vary)
				}
			}))
	}

	for (const [named, status] of [
		['"1;br"', 200],
		['"1;gzip"', 200],
		['"1"', 200],
		['"2;br"', 412],
		['W/"1;br"', 412],
		['"1;zip"', 412],
	] as const) {
		test(`If-Match: ${named} on version 1 is ${status}`, () =>
			inUse(async ({ port }, client) => {
				await client.create({ title: 'a' })
				const answer = await sent(port, 'PATCH /article/1', `If-Match: ${named}`, 'Accept-Encoding: gzip')
				assert.is(answer.status, status)
				if (status === 200) assert.is(answer.headers.etag, '"2;gzip"')
			}))
	}

	for (const [line, named, status] of [
		['PATCH', 'If-Match: "1;br"', 200],
		['PATCH', 'If-Match: "2;br", "1;zstd"', 200],
		['PATCH', 'If-Match: "2;br"', 412],
		['PATCH', 'If-Match: W/"1;br"', 412],
		['GET', 'If-None-Match: "1;br"', 200],
		['GET', 'If-None-Match: "1"', 304],
	] as const) {
		test(`with compression off, ${line} with ${named} on version 1 is ${status}`, () =>
			inUse(
				async ({ port }, client) => {
					await client.create({ title: 'a' })
					const answer = await sent(port, `${line} /article/1`, named)
					assert.is(answer.status, status)
				},
				{ compression: false },
			))
	}

	test('of two clients that update the same version one is refused', () =>
		inUse(async (_, client) => {
			await client.create({ title: 'a' })
			const [mine, theirs] = [await client.get(1), await client.get(1)]
			assert.match(String(etagOf(mine)), /^"1;(?:br|gzip)"$/)
			const changed = await client.update(mine, { title: 'mine' })
			assert.is(changed.title, 'mine')
			let status: unknown
			try {
				await client.update(theirs, { title: 'theirs' })
			} catch (error) {
				status = Reflect.get(error as Error, 'status')
			}
			assert.is(status, 412)
			assert.is((await client.update(changed, { title: 'again' })).revision, 3)
			await client.delete(await client.get(1))
		}))

	test('our client gets 304 for an unchanged record', () => {
		const statuses: number[] = []
		return inUse(async ({ url }, client) => {
			await client.create({ title: 'a' })
			const watched = new CrudClient<Article>('article', url, {
				fetch: async (input, init) => {
					const response = await fetch(input, init)
					statuses.push(response.status)
					return response
				},
			})
			const record = await watched.get(1)
			assert.is(await watched.get(record), record)
			assert.equal(statuses, [200, 304])
		})
	})

	test('a handler sees the ETags it has set, and If-Range as sent', () =>
		inUse(async ({ port }) => {
			const conditions = ['If-Match: "a;br"', 'If-None-Match: "b;gzip", "c"', 'If-Range: "d;br"']
			const answer = await sent(port, 'GET /conditions', ...conditions)
			assert.equal(answer.json(), { success: true, data: ['"a"', '"b", "c"', '"d;br"'] })
		}))

	test('a signature covers the ETags as sent', () => {
		const secret = Buffer.alloc(32, 7)
		const authenticator = new HmacAuthenticator(undefined, undefined, 300, { keys: { k1: secret } })
		return inUse(
			async ({ url }) => {
				const covered: string[] = []
				const client = new CrudClient<Article>('article', url, {
					sign: async (request) => {
						const signed = await signRequest(request, { id: 'k1', secret })
						covered.push(signed.headers.get('signature-input') ?? '')
						return signed
					},
				})
				await client.create({ title: 'a' })
				const record = await client.get(1)
				assert.match(String(etagOf(record)), /^"1;/)
				assert.is((await client.update(record, { title: 'b' })).title, 'b')
				assert.match(covered.at(-1) ?? '', '"if-match"')
			},
			{ authenticator },
		)
	})

	test('openapi.json is answered 304 to its ETag', () =>
		inUse(
			async ({ port }) => {
				const first = await sent(port, 'GET /openapi.json', 'Accept-Encoding: br')
				const { etag = '' } = first.headers
				assert.match(etag, /^"[\w-]{22};br"$/)
				const again = await sent(port, 'GET /openapi.json', 'Accept-Encoding: br', `If-None-Match: ${etag}`)
				assert.equal([again.status, again.headers.etag], [304, etag])
			},
			{ openapi: true },
		))
})
