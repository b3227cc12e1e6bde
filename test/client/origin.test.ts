/** ETags as servers and proxies may send them, and how the client uses them. */
import * as assert from 'uvu/assert'
import { idIn } from '../../lib/client/address.ts'
import { ApiError, CrudClient, type CrudClientOptions, etagOf } from '../../lib/client/index.ts'
import { describe } from '../helpers/describe.ts'
import { answering, json, type Site, text } from './answering.ts'

interface Article {
	readonly id: number
	readonly title: string
}

function clientOf({ origin }: Site, options?: CrudClientOptions): CrudClient<Article> {
	return new CrudClient<Article>('article', `${origin}/blog`, options)
}

/** A record with an ETag, and any other headers. */
function record(data: unknown, etag: string, more: Record<string, string> = {}): Site['answer'] {
	return json({ success: true, data }, 200, { ETag: etag, ...more })
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
	return work.then(
		() => 'nothing was thrown',
		(error: unknown) => error,
	)
}

describe('client: ETags', (test) => {
	const table: [string, string | undefined, string | undefined, string | undefined][] = [
		// as sent, as known, in If-Match, in If-None-Match
		['"7"', '"7"', '"7"', '"7"'],
		['""', '""', '""', '""'],
		['"a b"', undefined, undefined, undefined],
		['"é!#~"', '"é!#~"', '"é!#~"', '"é!#~"'],
		['W/"7"', 'W/"7"', '"7"', 'W/"7"'],
		['w/"7"', undefined, undefined, undefined],
		['7', undefined, undefined, undefined],
		['"7', undefined, undefined, undefined],
		['"7", "8"', undefined, undefined, undefined],
		['*', undefined, undefined, undefined],
		['', undefined, undefined, undefined],
	]
	for (const [sent, known, match, noneMatch] of table) {
		test(`${sent || 'an empty one'} is ${known ?? 'none'}, and guards by ${match ?? 'nothing'}`, () =>
			answering(async (site) => {
				const articles = clientOf(site)
				site.answer = record({ id: 5, title: 'x' }, sent)
				const article = await articles.get(5)
				assert.is(etagOf(article), known)
				await articles.update(article, { title: 'y' })
				await articles.delete(article)
				await articles.get(article)
				const [, update, remove, get] = site.asked.map(({ headers }) => headers)
				assert.equal([update?.['if-match'], remove?.['if-match']], [match, match])
				assert.equal([get?.['if-match'], get?.['if-none-match']], [undefined, noneMatch])
			}))
	}

	test('are not attached to lists, nor to values that are not records', () =>
		answering(async (site) => {
			const articles = clientOf(site)
			for (const data of [null, 'x', 5, true]) {
				site.answer = record(data, '"7"')
				assert.is(await articles.get(5), data)
			}
			site.answer = record([{ id: 5 }], '"7"')
			const { data } = await articles.list()
			assert.equal(data.map(etagOf), [undefined])
			assert.is(etagOf({}), undefined)
		}))

	test("don't affect how a record is compared, copied or printed", () =>
		answering(async (site) => {
			site.answer = record({ id: 5, title: 'x' }, '"7"')
			const article = await clientOf(site).get(5)
			assert.equal(article, { id: 5, title: 'x' })
			assert.is(JSON.stringify(article), '{"id":5,"title":"x"}')
			assert.equal(Object.getOwnPropertySymbols({ ...article }), [])
			assert.equal(Object.getOwnPropertySymbols(Object.assign({}, article)), [])
		}))

	test('a 304 without a condition is an error', () =>
		answering(async (site) => {
			site.answer = text('', 304)
			const error = await thrownBy(clientOf(site).get(5))
			assert.instance(error, ApiError)
			assert.is((error as ApiError).status, 304)
			const other = await thrownBy(clientOf(site).update(5, { title: 'x' }))
			assert.is((other as ApiError).status, 304)
		}))

	test("a 304 to the call's own headers is an error: the record it means is unknown", () =>
		answering(async (site) => {
			site.answer = record({ id: 5, title: 'x' }, '"7"')
			const articles = clientOf(site)
			const article = await articles.get(5)
			site.answer = text('', 304)
			const headers = { 'If-None-Match': '"7"' }
			const other = await thrownBy(articles.get(article, { fields: ['id'], headers }))
			assert.is(other instanceof ApiError && other.status, 304)
			const bare = await thrownBy(articles.get({ id: 5 }, { headers }))
			assert.is(bare instanceof ApiError && bare.status, 304)
			assert.is(await articles.get(article), article)
		}))

	test('a record is read unconditionally by another client, whose record may be another one', () =>
		answering(async (site) => {
			site.answer = record({ id: 5, title: 'x' }, '"7"')
			const article = await clientOf(site).get(5)
			await new CrudClient<Article>('archived', `${site.origin}/blog`).get(article)
			assert.equal(
				site.asked.map(({ line, headers }) => `${line} ${headers['if-none-match'] ?? ''}`.trim()),
				['GET /blog/article/5', 'GET /blog/archived/5'],
			)
		}))

	for (const ifMatch of ['7', 'W/7', 'W/*', '"7", "8"', '', ' *', '"7"\r\nX-A: a', 5, null]) {
		test(`an ifMatch of ${JSON.stringify(ifMatch)} can match nothing, and is refused`, () =>
			answering(async (site) => {
				const articles = clientOf(site)
				const options = { ifMatch: ifMatch as string } // What isn't typed is what is tested.
				for (const work of [articles.update(5, {}, options), articles.delete(5, options)])
					assert.is(String(await thrownBy(work)), `TypeError: ifMatch must be an ETag, like '"7"', or '*'`)
				assert.is(site.asked.length, 0)
			}))
	}
})

describe('client: the id of a record', (test) => {
	test('is its key, encoded as any other id', () =>
		answering(async (site) => {
			const articles = clientOf(site)
			await articles.delete({ id: 5 })
			const pages = new CrudClient<{ slug: string }>('page', site.origin, { key: 'slug' })
			await pages.update({ slug: 'a/b?c' }, {})
			assert.equal(
				site.asked.map(({ line }) => line),
				['DELETE /blog/article/5', 'PATCH /page/a%2Fb%3Fc'],
			)
		}))

	test('is the one it was read by, also when the record lacks it or it was changed', () =>
		answering(async (site) => {
			const pages = new CrudClient<{ slug: string; title: string }>('page', site.origin, { key: 'slug' })
			site.answer = record({ title: 'x' }, '"1"')
			await pages.delete(await pages.get('a/b', { fields: ['title'] }))
			site.answer = record({ slug: 'old', title: 'x' }, '"1"')
			await pages.delete(Object.assign(await pages.get('old'), { slug: 'new' }))
			site.answer = record({ title: 'x' }, '"1"', { Location: '/else/where/page/c%2Fd?x=1' })
			await pages.delete(await pages.create({ slug: 'c/d' }, { fields: ['title'] }))
			site.answer = record({ slug: 'e', title: 'x' }, '"1"', { Location: '/page/f' })
			await pages.delete(await pages.create({ slug: 'e' }))
			assert.equal(
				site.asked.flatMap(({ line }) => (line.startsWith('DELETE') ? [line] : [])),
				['DELETE /page/a%2Fb', 'DELETE /page/old', 'DELETE /page/c%2Fd', 'DELETE /page/e'],
			)
		}))

	test('must be known', () =>
		answering(async (site) => {
			const articles = clientOf(site)
			const unknown =
				"TypeError: the record has no id, so its id isn't known: pass the id, or set the client's key"
			// The wrong type is what is tested.
			for (const of of [{}, { title: 'x' }, new Date(0)] as object[])
				assert.is(String(await thrownBy(articles.delete(of))), unknown)
			const wrong: unknown[] = [
				null,
				undefined,
				true,
				[],
				{ id: {} },
				{ id: null },
				{ id: '..' },
				{ id: 1.5 },
			]
			for (const of of wrong)
				assert.match(String(await thrownBy(articles.delete(of as number))), 'TypeError: an id must be text')
			site.answer = record({ title: 'x' }, '"1"', { Location: '/blog/article/%zz' })
			assert.is(String(await thrownBy(articles.delete(await articles.create({})))), unknown)
			assert.equal(
				site.asked.map(({ line }) => line),
				['POST /blog/article'],
			)
		}))

	const locations: [string | null, string | undefined][] = [
		[null, undefined],
		['', undefined],
		['/blog/article/5', '5'],
		['5', '5'],
		['https://example.org/blog/article/a%2Fb?x=/y#/z', 'a/b'],
		['/blog/article/', undefined],
		['/blog/article/%ff', undefined],
		['?x', undefined],
	]
	for (const [location, id] of locations)
		test(`in Location: ${location} is ${id}`, () => assert.is(idIn(location), id))
})
