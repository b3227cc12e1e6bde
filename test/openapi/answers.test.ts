/** Responses of real servers, compared with their OpenAPI description. */
import * as assert from 'uvu/assert'
import { CrudClient, type NoRelations } from '../../lib/client/index.ts'
import { createServer } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { APP_NAMES, type Article, apps, baseOf } from './apps.ts'
import { CALLS, callAll } from './calls.ts'
import { Description, type Document, type Traffic } from './described.ts'
import { watch } from './tap.ts'

describe('described responses', (test) => {
	for (const name of APP_NAMES) {
		test(`of the app ${name} match the description`, async () => {
			const app = apps()[name]
			await listening(app.handlers, app.options, async (site) => {
				const watched = await watch(site.server, { base: baseOf(app) })
				await callAll(site, CALLS[name])
				assert.equal(watched.problems(), [])
				assert.ok(watched.answers().length >= CALLS[name].length - 1)
			})
		})
	}

	test('of our client match, and so do its requests', async () => {
		const { handlers, options } = apps().plain
		await listening(handlers, options, async ({ server, url }) => {
			const watched = await watch(server)
			const client = new CrudClient<Article, NoRelations, Partial<Article> & { secretNote?: string }>(
				'articles',
				`${url}/blog`,
			)
			const { data, meta } = await client.list({
				where: { state: 'draft' },
				sort: ['-title', 'id'],
				limit: 2,
				count: true,
			})
			assert.equal([data.length, meta.limit, meta.total], [2, 2, 5])
			await client.list({ filter: { or: [{ title: 'Title 1' }, { state: ['public'] }] }, search: 'tit' })
			await client.list({ where: { publishedAt: null } })
			for await (const page of client.pages({ limit: 2 })) assert.ok(page.data.length > 0)
			const made = await client.create({ title: 'Mine', secretNote: 'MARKER' })
			await client.update(made.id, { body: 'Text' })
			await client.replace(made.id, { title: 'Yours', state: 'public' })
			await client.get(made.id, { fields: ['title'] })
			await client.delete(made.id)
			assert.is(await client.count({ where: { state: 'draft' } }), 5)
			assert.equal(watched.problems(), [])
			assert.ok(watched.answers().length > 10)
		})
	})
})

describe('comparing responses with their description', (test) => {
	const fine: Traffic = {
		...{ method: 'GET', target: '/blog/articles/1', status: 200, requestHeaders: {}, requestBody: '' },
		type: 'application/json; charset=utf-8',
		body: '',
	}
	const record = { id: 1, title: 'A', state: 'draft', body: null, price: null, publishedAt: null }
	const body = (data: unknown) => JSON.stringify({ success: true, data })
	const table: [string, Partial<Traffic>, string[]][] = [
		['nothing', {}, []],
		['another field', { body: body({ ...record, secret: 1 }) }, ['additionalProperty']],
		['a field that lacks', { body: body({ id: 1 }) }, ['title', 'state', 'body', 'price', 'publishedAt']],
		['no lack where fields were named', { target: '/blog/articles/1?fields=id', body: body({ id: 1 }) }, []],
		['another type', { body: body({ ...record, id: '1' }) }, ['must be integer']],
		['another media type', { type: 'text/html' }, ['its type text/html']],
		['another success', { status: 202 }, ['the status']],
		['a failure without its words', { status: 404, body: '{"success":false}' }, ['error']],
		['a path', { target: '/blog/nothing' }, ['no operation']],
		['no path that failed', { target: '/blog/nothing', status: 404 }, []],
		['a parameter', { target: '/blog/articles/1?x=1' }, ['its parameter x']],
		[
			'another body that was taken',
			{ method: 'PATCH', requestHeaders: { 'content-type': 'application/json' }, requestBody: '{"title":7}' },
			['its body'],
		],
		[
			'nothing in a body with a byte order mark',
			{
				...{ method: 'PATCH', requestHeaders: { 'content-type': 'application/json' } },
				requestBody: '\ufeff{"title":"x"}',
			},
			[],
		],
		[
			'a body that is no JSON and was taken',
			{ method: 'PATCH', requestHeaders: { 'content-type': 'application/json' }, requestBody: '{' },
			['its body is no JSON'],
		],
		['an answer that is no JSON', { body: '{' }, ['its body is no JSON']],
	]
	for (const [what, traffic, expected] of table) {
		test(`finds ${what}`, async () => {
			const { handlers, options } = apps().plain
			const reply = await createServer(handlers, options).inject({ method: 'GET', url: '/openapi.json' })
			const description = new Description(JSON.parse(reply.text()) as Document)
			const problems = description.problems({ ...fine, body: body(record), ...traffic })
			assert.is(problems.length, expected.length, problems.join('\n'))
			for (const [at, words] of expected.entries()) assert.match(problems[at] ?? '', words)
		})
	}
})
