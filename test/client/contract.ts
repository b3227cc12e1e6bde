/**
 * What `CrudClient` promises, as cases that run wherever it does: in Node and in a page, against the acceptance app
 * and against `contract-site.ts`. So nothing is imported here but types, and no test framework is needed.
 */
import type { ApiError, CrudClient, CrudClientOptions, etagOf, signRequest } from '../../lib/client/index.ts'

/** The arguments of the cases. */
export interface Tools {
	readonly CrudClient: typeof CrudClient
	readonly ApiError: typeof ApiError
	readonly etagOf: typeof etagOf
	readonly signRequest: typeof signRequest
	/** The path of the acceptance app's articles: `/blog/api`. */
	readonly blog: string
	/** The path of `contract-site.ts`: `/site`. */
	readonly site: string
}

export interface Case {
	readonly name: string
	run(tools: Tools): Promise<void>
}

/** Only in tests. */
export const KEY = { id: 'k1', secret: 'cfVyRB4ARuA+wr8b1X1Ybo+8h9B4HUsh5tEEuN1dZ08=' }

interface Article {
	readonly id: number
	readonly title: string
	readonly body: string | null
	readonly owner: string
	readonly created: string
}

interface Thing {
	readonly id: number
	readonly title: string
	readonly note: string | null
	readonly rank: number | null
	readonly version: number
}

function articlesOf(
	{ CrudClient, blog }: Tools,
	options?: CrudClientOptions,
): CrudClient<Article, Partial<Article>> {
	return new CrudClient<Article>('article', blog, options)
}

function thingsOf(
	{ CrudClient, site }: Tools,
	options?: CrudClientOptions,
	name = 'thing',
): CrudClient<Thing, Partial<Thing>> {
	return new CrudClient<Thing>(name, site, options)
}

/** A `fetch` that records its requests, as `PATCH "7"` with an If-Match. */
function spy(): { readonly asked: string[]; readonly fetch: NonNullable<CrudClientOptions['fetch']> } {
	const asked: string[] = []
	return {
		asked,
		fetch: (url, init) => {
			const condition = init.headers.get('If-Match') ?? init.headers.get('If-None-Match') ?? ''
			asked.push(`${init.method} ${condition}`.trim())
			return fetch(url, init)
		},
	}
}

function equal(found: unknown, expected: unknown): void {
	const [is, should] = [JSON.stringify(found), JSON.stringify(expected)]
	if (is !== should) throw new Error(`expected ${should}, got ${is}`)
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
	try {
		await work
	} catch (error) {
		return error
	}
	throw new Error('nothing was thrown')
}

/** Status and code of the ApiError that a call rejects with. */
async function refusal({ ApiError }: Tools, work: Promise<unknown>): Promise<[number, string]> {
	const error = await thrownBy(work)
	if (!(error instanceof ApiError)) throw error
	return [error.status, error.code]
}

const LONG_TITLES: readonly string[] = Array.from(
	{ length: 90 },
	(_, at) => 'no such article '.repeat(3) + at,
)

const lists: Case[] = [
	{
		name: 'a list accepts conditions, order and fields, and is counted',
		async run(tools) {
			const { data, meta } = await articlesOf(tools).list({
				where: { id: { between: [10, 14] }, owner: 'alice' },
				filter: { not: { title: 'Article 12' } },
				...{ sort: '-id', fields: ['id', 'title'], limit: 3, count: true },
			})
			const titles = [14, 13, 11].map((id) => ({ id, title: `Article ${id}` }))
			equal(data, titles)
			equal([meta.limit, meta.offset, typeof meta.next, meta.total], [3, 0, 'string', 4])
		},
	},
	{
		name: 'alternatives, lists of values and null select the right records',
		async run(tools) {
			const articles = articlesOf(tools)
			const { data } = await articles.list({
				filter: { or: [{ id: 3 }, { title: { endsWith: ' 59' } }] },
				fields: ['id'],
			})
			equal(data, [{ id: 3 }, { id: 59 }])
			equal(await articles.count({ where: { title: ['Article 1', 'Article 2', 'none'] } }), 2)
			equal(await articles.count({ where: { body: null, id: { lte: 60 } } }), 0)
			equal(await articles.count({ where: { id: { lte: 60 } } }), 60)
		},
	},
	{
		name: 'conditions too long for a URL are sent as a QUERY, with the same result',
		async run(tools) {
			const { asked, fetch } = spy()
			const where = { title: ['Article 5', ...LONG_TITLES] }
			const { data } = await articlesOf(tools, { fetch }).list({ where, fields: ['id'] })
			equal([data, asked], [[{ id: 5 }], ['QUERY']])
		},
	},
	{
		name: 'pages visit every record once, and end',
		async run(tools) {
			const ids: number[] = []
			const sizes: number[] = []
			for await (const { data } of articlesOf(tools).pages({ where: { id: { lte: 60 } }, limit: 25 })) {
				sizes.push(data.length)
				ids.push(...data.map(({ id }) => id))
			}
			equal(sizes, [25, 25, 10])
			equal(new Set(ids).size, 60)
		},
	},
	{
		name: 'leaving or aborting a loop over pages sends no further request',
		async run(tools) {
			const { asked, fetch } = spy()
			const articles = articlesOf(tools, { fetch })
			for await (const { data } of articles.pages({ limit: 10 })) {
				equal(data.length, 10)
				break
			}
			equal(asked.length, 1)
			const controller = new AbortController()
			const reason = new Error('the user left')
			const loop = async () => {
				for await (const _page of articles.pages({ limit: 10 }, { signal: controller.signal }))
					controller.abort(reason)
			}
			equal((await thrownBy(loop())) === reason, true)
			equal(asked.length, 2)
		},
	},
	{
		name: 'parameters unknown to the server are refused with a message',
		async run(tools) {
			const sort = 'nope' as 'id' // What TypeScript refuses, JavaScript sends.
			equal(await refusal(tools, articlesOf(tools).list({ sort })), [400, 'bad_request'])
		},
	},
]

const records: Case[] = [
	{
		name: 'a record is created, read, updated, replaced and deleted',
		async run(tools) {
			const articles = articlesOf(tools)
			const made = await articles.create({ title: 'Mint', body: 'Wet.' })
			equal([made.title, made.body, made.owner], ['Mint', 'Wet.', 'alice'])
			equal(await articles.get(made.id), made)
			equal(await articles.get(made), made)
			equal((await articles.update(made, { body: null })).body, null)
			equal(await articles.replace(made.id, { title: 'Water mint' }, { fields: ['title', 'body'] }), {
				...{ title: 'Water mint', body: null },
			})
			equal((await articles.delete(made)).title, 'Water mint')
			equal(await refusal(tools, articles.get(made.id)), [404, 'not_found'])
		},
	},
	{
		name: 'a refusal names the field',
		async run(tools) {
			const { ApiError } = tools
			const error = await thrownBy(articlesOf(tools).create({ body: 'without a title' }))
			if (!(error instanceof ApiError)) throw error
			equal([error.status, error.code, error.details[0]?.field], [422, 'invalid', 'title'])
			equal(error.response?.status, 422)
		},
	},
	{
		name: 'texts round-trip unchanged',
		async run(tools) {
			const articles = articlesOf(tools)
			for (const title of [
				'<script>alert(1)</script>',
				'"><img onerror=x>',
				'\u{1f33f} été\t',
				"'; --",
				'%2e',
			]) {
				const { id } = await articles.create({ title })
				equal((await articles.get(id)).title, title)
				equal((await articles.delete(id, { fields: ['title'] })).title, title)
			}
		},
	},
	{
		name: 'an id is one segment, whatever it contains',
		async run(tools) {
			const articles = articlesOf(tools)
			for (const id of ['../article', 'a/b', '%2e%2e', '?x', '#', '1;drop', ' 1'])
				equal(await refusal(tools, articles.delete(id)), [404, 'not_found'])
			equal(String(await thrownBy(articles.delete('..'))).startsWith('TypeError: an id must be'), true)
		},
	},
	{
		name: 'with methodOverride, PATCH, PUT and DELETE are sent as POST',
		async run(tools) {
			const { asked, fetch } = spy()
			const articles = articlesOf(tools, { fetch, methodOverride: true })
			const { id } = await articles.create({ title: 'Mint' })
			equal((await articles.update(id, { body: 'x' })).body, 'x')
			equal((await articles.replace(id, { title: 'Sage' })).title, 'Sage')
			equal((await articles.delete(id)).title, 'Sage')
			equal(await refusal(tools, articles.get(id)), [404, 'not_found'])
			equal(asked, ['POST', 'POST', 'POST', 'POST', 'GET'])
		},
	},
	{
		name: 'an aborted call rejects with the given reason',
		async run(tools) {
			const { asked, fetch } = spy()
			const articles = articlesOf(tools, { fetch })
			const reason = new Error('the user left')
			equal((await thrownBy(articles.get(5, { signal: AbortSignal.abort(reason) }))) === reason, true)
			equal(asked, [])
			const controller = new AbortController()
			const slow = thingsOf(tools, {}, 'slow').get(5, { signal: controller.signal })
			setTimeout(() => controller.abort(reason), 30)
			equal((await thrownBy(slow)) === reason, true)
		},
	},
	{
		name: 'a write of a record without a version has no condition',
		async run(tools) {
			const { asked, fetch } = spy()
			const { etagOf } = tools
			const articles = articlesOf(tools, { fetch })
			const article = await articles.get(60)
			equal(etagOf(article), undefined)
			equal((await articles.update(article, { body: 'Body 60' })).body, 'Body 60')
			equal(asked, ['GET', 'PATCH'])
		},
	},
]

const versions: Case[] = ['thing', 'bare'].flatMap((name): Case[] => {
	const options = name === 'bare' ? { wrap: false } : {}
	const how = name === 'bare' ? ', without envelope too' : ''
	return [
		{
			name: `a record read with an ETag is only updated if it is unchanged${how}`,
			async run(tools) {
				const { etagOf } = tools
				const { asked, fetch } = spy()
				const things = thingsOf(tools, { ...options, fetch }, name)
				const first = await things.create({ title: 'Mint' })
				const mine = await things.get(first.id)
				const theirs = await things.get(first.id)
				equal([etagOf(first), etagOf(mine)], ['"1"', '"1"'])
				const newer = await things.update(theirs, { note: 'theirs' })
				equal([newer.note, etagOf(newer)], ['theirs', '"2"'])
				const late = [412, 'precondition_failed']
				equal(await refusal(tools, things.update(mine, { note: 'mine' })), late)
				equal(await refusal(tools, things.replace(mine, { title: 'mine' })), late)
				equal(await refusal(tools, things.delete(mine)), late)
				equal((await things.get(first.id)).note, 'theirs')
				const newest = await things.replace(newer, { title: 'Sage' })
				equal([newest.title, newest.note, etagOf(newest)], ['Sage', null, '"3"'])
				equal((await things.delete(newest)).title, 'Sage')
				equal(asked, [
					...['POST', 'GET', 'GET', 'PATCH "1"', 'PATCH "1"', 'PUT "1"', 'DELETE "1"', 'GET'],
					...['PUT "2"', 'DELETE "3"'],
				])
			},
		},
		{
			name: `a record is only sent again if it has changed${how}`,
			async run(tools) {
				const { asked, fetch } = spy()
				const things = thingsOf(tools, { ...options, fetch }, name)
				const { id } = await things.create({ title: 'Mint', note: 'dry' })
				const mine = await things.get(id)
				equal((await things.get(mine)) === mine, true)
				// Another selection of fields is another response, of the same version.
				equal(await things.get(mine, { fields: ['note'] }), { note: 'dry' })
				await things.update(id, { note: 'wet' })
				const newer = await things.get(mine)
				equal([mine.note, newer.note], ['dry', 'wet'])
				equal(asked, ['POST', 'GET', 'GET "1"', 'GET', 'PATCH', 'GET "1"'])
				await things.delete(newer)
			},
		},
	]
})

const remembered: Case[] = [
	{
		name: 'a record read without its key still has its id',
		async run(tools) {
			const { etagOf } = tools
			const things = thingsOf(tools)
			const made = await things.create({ title: 'Mint' }, { fields: ['title'] })
			equal(made, { title: 'Mint' })
			const changed = await things.update(made, { note: 'dry' }, { fields: ['note'] })
			equal([changed, etagOf(changed)], [{ note: 'dry' }, '"2"'])
			equal((await things.delete(changed)).title, 'Mint')
		},
	},
	{
		name: "a call's own condition takes precedence over the record's",
		async run(tools) {
			const { etagOf } = tools
			const things = thingsOf(tools)
			const old = await things.create({ title: 'Mint' })
			const newer = await things.update(old.id, { note: 'dry' })
			equal((await things.update(old, { rank: 1 }, { ifMatch: etagOf(newer) })).rank, 1)
			equal((await things.update(old, { rank: 2 }, { ifMatch: '*' })).rank, 2)
			const refused = things.update(old.id, { rank: 3 }, { ifMatch: '"7"' })
			equal(await refusal(tools, refused), [412, 'precondition_failed'])
			equal((await things.delete(old.id)).rank, 2)
			equal(await refusal(tools, things.update(old.id, { rank: 4 }, { ifMatch: '*' })), [404, 'not_found'])
		},
	},
	{
		name: 'of two concurrent updates of one version, one is refused',
		async run(tools) {
			const things = thingsOf(tools)
			const thing = await things.create({ title: 'Mint' })
			const both = await Promise.allSettled([
				things.update(thing, { note: 'a' }),
				things.update(thing, { note: 'b' }),
			])
			equal(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
			equal((await things.get(thing.id)).version, 2)
			await things.delete(thing.id)
		},
	},
	{
		name: 'an ETag is not copied, and is found through proxies',
		async run(tools) {
			const { etagOf } = tools
			const things = thingsOf(tools)
			const thing = await things.create({ title: 'Mint' }, { fields: ['title'] })
			equal(JSON.stringify(thing), '{"title":"Mint"}')
			equal([Object.keys(thing), Reflect.has(thing, 'etag')], [['title'], false])
			equal([etagOf({ ...thing }), etagOf(structuredClone(thing))], [undefined, undefined])
			// Like a framework's: every object is returned as a proxy.
			const proxied = <P extends object>(target: P): P =>
				new Proxy(target, {
					get: (inner, property, receiver) => {
						const value: unknown = Reflect.get(inner, property, receiver)
						return typeof value === 'object' && value !== null ? proxied(value) : value
					},
				})
			const state = proxied(thing)
			equal(etagOf(state), '"1"')
			equal((await things.update(state, { note: 'x' })).note, 'x')
			await things.delete(state, { ifMatch: '*' })
		},
	},
]

const attempts: Case[] = [
	{
		name: 'a read that fails temporarily is retried, as often as configured',
		async run(tools) {
			const { asked, fetch } = spy()
			const busy = thingsOf(tools, { fetch }, 'busy')
			equal(await busy.get(`twice-${Math.random()}`), { id: 3 })
			equal(asked, ['GET', 'GET', 'GET'])
			const once = thingsOf(tools, { fetch, retries: 1 }, 'busy')
			equal(await refusal(tools, once.get(`once-${Math.random()}`)), [503, 'unavailable'])
			const never = thingsOf(tools, { fetch, retries: 0 }, 'busy')
			equal(await refusal(tools, never.get(`never-${Math.random()}`)), [503, 'unavailable'])
			equal(asked.length, 6)
		},
	},
	{
		name: 'a failed write is not retried, as its outcome is unknown',
		async run(tools) {
			const { asked, fetch } = spy()
			const busy = thingsOf(tools, { fetch }, 'busy')
			equal(await refusal(tools, busy.create({ title: 'x' })), [503, 'unavailable'])
			equal(await refusal(tools, busy.update(1, { title: 'x' })), [503, 'unavailable'])
			equal(await refusal(tools, busy.delete(1)), [503, 'unavailable'])
			equal(asked, ['POST', 'PATCH', 'DELETE'])
		},
	},
	{
		name: 'a create with an idempotency key is retried after a lost response, and done once',
		async run(tools) {
			const { fetch: real } = spy()
			let asked = 0
			const things = thingsOf(
				tools,
				{
					fetch: async (url, init) => {
						const answer = await real(url, init)
						if (++asked === 1) throw new TypeError('the connection was lost')
						return answer
					},
				},
				'keyed',
			)
			const title = `Mint ${Math.random()}`
			const idempotencyKey = `"order" ${title}`
			const { id } = await things.create({ title }, { idempotencyKey })
			equal([asked, await things.count({ where: { title } })], [2, 1])
			equal((await things.create({ title }, { idempotencyKey })).id, id)
			const other = things.create({ title: 'another' }, { idempotencyKey })
			equal(await refusal(tools, other), [422, 'invalid'])
			await things.delete(id)
		},
	},
	{
		name: 'every attempt of any request has a new signature',
		async run(tools) {
			const { signRequest } = tools
			const sign = (request: Request) => signRequest(request, KEY)
			equal(await refusal(tools, thingsOf(tools, {}, 'signed').count()), [401, 'unauthorized'])
			for (const methodOverride of [false, true]) {
				const things = thingsOf(tools, { sign, methodOverride }, 'signed')
				const thing = await things.create({ title: 'Mint & été' }, { idempotencyKey: `k${Math.random()}` })
				const { data } = await things.list({ where: { title: 'Mint & été', id: thing.id } })
				equal(data[0]?.id, thing.id)
				equal(await things.count({ where: { title: [...LONG_TITLES] } }), 0)
				const newer = await things.update(thing, { note: 'a%20b' })
				equal((await things.get(newer)).note, 'a%20b')
				equal(await refusal(tools, things.update(thing, { note: 'late' })), [412, 'precondition_failed'])
				equal((await things.replace(newer, { title: 'Sage' })).title, 'Sage')
				equal((await things.delete(thing.id)).title, 'Sage')
			}
			const busy = thingsOf(tools, { sign }, 'signed-busy')
			equal(await busy.get(`signed-${Math.random()}`), { id: 3 })
		},
	},
	{
		name: "a response that is not an API's is an error that says so",
		async run(tools) {
			equal(await refusal(tools, thingsOf(tools, {}, 'page').get(1)), [200, 'unexpected_answer'])
			equal(await refusal(tools, thingsOf(tools, {}, 'none').get(1)), [404, 'not_found'])
		},
	},
]

/**
 * Cases that can run at once; those of one array run in turn: SQLite gives the id of an article that was deleted to
 * the next one.
 */
export const lanes: readonly (readonly Case[])[] = [
	[...lists, ...records],
	...[...versions, ...remembered, ...attempts].map((one) => [one]),
]

/** Runs all cases; returns the failures, with their reasons. */
export async function failures(tools: Tools): Promise<string[]> {
	const failed: string[] = []
	const runLane = async (lane: readonly Case[]) => {
		for (const { name, run } of lane)
			await run(tools).catch((error: unknown) => failed.push(`${name}: ${String(error)}`))
	}
	await Promise.all(lanes.map(runLane))
	return failed
}
