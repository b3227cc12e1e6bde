/** What each attempt sends: headers, override, key and signature. */
import * as assert from 'uvu/assert'
import { CrudClient, type CrudClientOptions, type FetchInit, signRequest } from '../../lib/client/index.ts'
import { describe } from '../helpers/describe.ts'
import { answering, type Site } from './answering.ts'

interface Article {
	readonly id: number
	readonly title: string
}

const KEY = { id: 'k1', secret: Buffer.alloc(32, 7) }

function clientOf({ origin }: Site, options: CrudClientOptions): CrudClient<Article> {
	return new CrudClient<Article>('article', `${origin}/blog`, options)
}

/** The error a promise rejects with, as `TypeError: …`. */
async function failureOf(work: Promise<unknown>): Promise<string> {
	return work.then(
		() => 'nothing was thrown',
		(error: unknown) => String(error),
	)
}

describe('client: method override', (test) => {
	test('PUT, PATCH and DELETE are sent as POST, the others unchanged', () =>
		answering(async (site) => {
			const articles = clientOf(site, { methodOverride: true })
			await articles.get(5)
			await articles.create({ title: 'x' })
			await articles.update(5, { title: 'x' })
			await articles.replace(5, { title: 'x' })
			await articles.delete(5)
			assert.equal(
				site.asked.map(({ line, headers }) => `${line} ${headers['x-http-method-override'] ?? ''}`.trim()),
				[
					'GET /blog/article/5',
					'POST /blog/article',
					'POST /blog/article/5 PATCH',
					'POST /blog/article/5 PUT',
					'POST /blog/article/5 DELETE',
				],
			)
		}))

	test('errors name the original method', async () => {
		const articles = new CrudClient('article', '/blog', {
			...{ methodOverride: true, fetch: () => Promise.reject(new Error('lost')) },
		})
		assert.is(await failureOf(articles.delete(5)), 'ApiError: DELETE /blog/article/5 got no answer: lost')
	})
})

describe('client: headers', (test) => {
	test('that are not strings are refused before sending, those of a call and of a function too', () =>
		answering(async (site) => {
			const wrong = { 'X-A': undefined } as unknown as Record<string, string> // as JavaScript may have it
			const message = "TypeError: headers must be an object of texts, like { 'X-A': 'a' }"
			assert.is(await failureOf(clientOf(site, {}).get(5, { headers: wrong })), message)
			assert.is(await failureOf(clientOf(site, { headers: () => wrong }).get(5)), message)
			const iterable = new Headers({ 'X-A': 'a' }) as unknown as Record<string, string> // nothing of it would be sent
			assert.is(await failureOf(clientOf(site, {}).get(5, { headers: iterable })), message)
			assert.is(await failureOf(clientOf(site, { headers: async () => iterable }).get(5)), message)
			assert.is(site.asked.length, 0)
		}))

	test('of a call take precedence over conditions and keys', () =>
		answering(async (site) => {
			const headers = { 'if-match': '"9"', 'idempotency-key': 'mine' }
			const articles = clientOf(site, {})
			await articles.update(5, { title: 'x' }, { ifMatch: '"1"', headers })
			await articles.create({ title: 'x' }, { idempotencyKey: 'theirs', headers })
			assert.equal(
				site.asked.map((asked) => [asked.headers['if-match'], asked.headers['idempotency-key']]),
				[
					['"9"', 'mine'],
					['"9"', 'mine'],
				],
			)
		}))
})

describe('client: idempotency keys', (test) => {
	test('are sent as quoted strings', () =>
		answering(async (site) => {
			const articles = clientOf(site, {})
			const keys = ['order-1', 'a "b" \\c', ' ', 'x'.repeat(255)]
			for (const idempotencyKey of keys) await articles.create({ title: 'x' }, { idempotencyKey })
			assert.equal(
				site.asked.map(({ headers }) => headers['idempotency-key']),
				['"order-1"', '"a \\"b\\" \\\\c"', '" "', `"${'x'.repeat(255)}"`],
			)
		}))

	for (const key of ['', 'x'.repeat(256), 'schlüssel', 'a\nb', 5, null]) {
		test(`${JSON.stringify(key).slice(0, 20)} is not a key`, () =>
			answering(async (site) => {
				const idempotencyKey = key as string // What isn't typed is what is tested.
				assert.is(
					await failureOf(clientOf(site, {}).create({ title: 'x' }, { idempotencyKey })),
					'TypeError: an idempotencyKey must be 1 to 255 characters of printable ASCII',
				)
				assert.is(site.asked.length, 0)
			}))
	}
})

describe('client: sign', (test) => {
	test('receives the whole request, and the headers it returns are sent', () =>
		answering(async (site) => {
			const seen: unknown[] = []
			const articles = clientOf(site, {
				methodOverride: true,
				headers: { 'X-A': 'a' },
				sign: async (request) => {
					const { method, url, headers } = request
					const text = await request.clone().text()
					seen.push(method, new URL(url).pathname, Object.fromEntries(headers), text)
					const signed = new Request(request)
					signed.headers.set('Signature', 'sig=:AAAA:')
					return signed
				},
			})
			await articles.update(5, { title: 'thé' }, { ifMatch: '"7"', headers: { 'X-B': 'b' } })
			assert.equal(seen, [
				'POST',
				'/blog/article/5',
				{
					...{ accept: 'application/json', 'content-type': 'application/json', 'if-match': '"7"' },
					...{ 'x-a': 'a', 'x-b': 'b', 'x-http-method-override': 'PATCH' },
				},
				'{"title":"thé"}',
			])
			const [{ line, body, headers } = { line: '', body: '', headers: {} }] = site.asked
			assert.equal([line, body, headers.signature], ['POST /blog/article/5', '{"title":"thé"}', 'sig=:AAAA:'])
			assert.equal([headers['x-a'], headers['if-match']], ['a', '"7"'])
		}))

	test('works with a custom fetch, which gets its usual arguments', async () => {
		const seen: [string, FetchInit][] = []
		const articles = new CrudClient<Article>('article', 'https://example.org/blog', {
			sign: (request) => signRequest(request, KEY),
			fetch: async (url, init) => {
				seen.push([url, init])
				return Response.json({ success: true, data: { id: 5 } })
			},
		})
		const { signal } = new AbortController()
		await articles.update(5, { title: 'x' }, { signal })
		const [[url, init] = ['', undefined]] = seen
		assert.equal(
			[url, init?.method, init?.body],
			['https://example.org/blog/article/5', 'PATCH', '{"title":"x"}'],
		)
		assert.is(init?.signal, signal)
		assert.match(init?.headers.get('Signature-Input') ?? '', 'content-digest')
		assert.is(init?.headers.get('Content-Type'), 'application/json')
	})

	for (const nothing of [undefined, null, 'signed', {}]) {
		test(`returning ${JSON.stringify(nothing)} is an error that says so`, () =>
			answering(async (site) => {
				// The wrong type is what is tested.
				const sign = (() => nothing) as unknown as NonNullable<CrudClientOptions['sign']>
				assert.is(
					await failureOf(clientOf(site, { sign }).get(5)),
					'TypeError: sign must return the signed Request',
				)
				assert.is(site.asked.length, 0)
			}))
	}

	test('needs a page or an absolute endpoint, also with a custom fetch', async () => {
		const sign = (request: Request) => request
		const message =
			'TypeError: outside a browser, /blog/article/5 needs an origin: write https://example.org/blog'
		const own = { sign, fetch: async () => Response.json({}) }
		for (const options of [{ sign }, own])
			assert.match(await failureOf(new CrudClient('article', '/blog', options).get(5)), message)
	})
})
