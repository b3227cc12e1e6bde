/** What the client's types accept and refuse: see `helpers/types.ts`. */
import {
	ApiError,
	CrudClient,
	type CrudClientOptions,
	etagOf,
	type Fetch,
	type ListQuery,
	type NoRelations,
	type Page,
	type RecordOrId,
	signRequest,
} from '../../lib/client/index.ts'
import { type Same, same } from '../helpers/same.ts'
import { types } from '../helpers/types.ts'

interface Article {
	readonly id: number
	readonly title: string
	readonly status: 'draft' | 'published'
	readonly tag: string | null
	readonly big: boolean
	readonly about?: { readonly deep: number }
}

interface NewArticle {
	title: string
	secret?: string
}

const fetch: Fetch = async () => Response.json({ success: true, data: [], meta: { next: null, total: 0 } })
const articles = new CrudClient<Article>('article', '/blog', { fetch })

types('client: types', (say) => {
	say('records have the given type, with fewer fields where selected', async () => {
		const all = await articles.list()
		same<Same<(typeof all.data)[number]['status'], 'draft' | 'published'>>()
		const records: readonly Article[] = all.data
		void records
		const some = await articles.list({ fields: ['id', 'title'] })
		same<Same<typeof some, Page<Pick<Article, 'id' | 'title'>>>>()
		for await (const { data } of articles.pages({ fields: ['id'] }))
			same<Same<typeof data, Pick<Article, 'id'>[]>>()
		const title = async () => {
			const record: Article = await articles.get(5)
			const { id, title } = await articles.get(5, { fields: ['id', 'title'] })
			// @ts-expect-error: a field that wasn't asked for
			const { tag } = await articles.create({ title: 'x' }, { fields: ['id'] })
			return [record, id, title, tag]
		}
		void title
		same<Same<ReturnType<typeof articles.count>, Promise<number>>>()
	})

	say('a generic function knows the fields that its records must have', () => {
		return async <T extends { id: number }>(client: CrudClient<T>) => {
			const { data } = await client.list()
			const ids: number[] = data.map(({ id }) => id)
			return [ids, (await client.get(5)).id]
		}
	})

	say('conditions match their fields', () => {
		const good: ListQuery<Article>[] = [
			{ where: { status: 'draft', id: [1, 2n], tag: null, big: true } },
			{ where: { title: { gte: new Date(0), contains: 'x' }, id: { between: [1, 2] }, tag: ['a', null] } },
			{ filter: { or: [{ id: 1 }, { not: { tag: { null: true } } }], title: 'x' } },
			{ sort: '-title', fields: ['id'] },
			{ sort: ['-id', 'title'], limit: undefined, cursor: null },
		]
		const bad: ListQuery<Article>[] = [
			// @ts-expect-error: no such field
			{ where: { name: 'x' } },
			// @ts-expect-error: a text is no number
			{ where: { id: 'x' } },
			// @ts-expect-error: none of the choices
			{ where: { status: 'gone' } },
			// @ts-expect-error: a condition less would find everything
			{ where: { title: undefined } },
			// @ts-expect-error: no such operator
			{ where: { id: { above: 3 } } },
			// @ts-expect-error: nothing is greater than null
			{ where: { tag: { gt: null } } },
			// @ts-expect-error: nothing is one of several that has null, but in an array
			{ where: { tag: { in: ['a', null] } } },
			// @ts-expect-error: nothing is none of several that has null
			{ where: { tag: { nin: [null] } } },
			// @ts-expect-error: no such field to sort by
			{ sort: '-name' },
			// @ts-expect-error: no such field to send
			{ fields: ['name'] },
			// @ts-expect-error: an object isn't compared
			{ where: { about: { deep: 1 } } },
			// @ts-expect-error: no such field in an alternative
			{ filter: { or: [{ name: 'x' }] } },
		]
		return [good, bad]
	})

	say('a write type may have more fields than the read type', async () => {
		const writers = new CrudClient<Article, NoRelations, NewArticle>('article', '/blog', { fetch })
		await writers.create({ title: 'x', secret: 'y' })
		await writers.update(5, { secret: 'y' })
		// @ts-expect-error: title is missing
		await writers.create({ secret: 'y' })
		// @ts-expect-error: a read field that isn't written
		await writers.update(5, { big: true })
		await articles.create({ title: 'x' })
		// @ts-expect-error: not the field's type
		await articles.update(5, { title: 5 })
	})

	say('lists of records have the types of single ones', async () => {
		const writers = new CrudClient<Article, NoRelations, NewArticle>('article', '/blog', { fetch })
		const made = await writers.createMany([{ title: 'x', secret: 'y' }], { fields: ['id'] })
		same<Same<typeof made, Pick<Article, 'id'>[]>>()
		const changed = await articles.updateMany([{ id: 5, title: 'x' }], { fields: ['id', 'tag'] })
		same<Same<typeof changed, Pick<Article, 'id' | 'tag'>[]>>()
		const upserted = await articles.upsert([{ title: 'x' }], ['title', 'tag'], { idempotencyKey: 'x' })
		same<Same<typeof upserted, Article[]>>()
		const ids = await articles.removeMany(
			{ where: { status: 'draft' }, search: 'x' },
			{ idempotencyKey: 'x' },
		)
		const first: string | number | bigint | undefined = ids[0]
		void first
		const wrong = [
			// @ts-expect-error: title is missing in the second
			() => writers.createMany([{ title: 'x' }, { secret: 'y' }]),
			// @ts-expect-error: no such field
			() => articles.updateMany([{ id: 5, name: 'x' }]),
			// @ts-expect-error: not the field's type
			() => articles.updateMany([{ id: 5, title: 5 }]),
			// @ts-expect-error: one record isn't a list
			() => articles.upsert({ title: 'x' }, 'title'),
			// @ts-expect-error: no such field to be unique
			() => articles.upsert([{ title: 'x' }], 'name'),
			// @ts-expect-error: versions are in the list
			() => articles.updateMany([{ id: 5 }], { ifMatch: '*' }),
			// @ts-expect-error: no such field in the condition
			() => articles.removeMany({ where: { name: 'x' } }),
			// @ts-expect-error: a limit would delete some of what matches
			() => articles.removeMany({ where: { id: 5 }, limit: 1 }),
		]
		return wrong
	})

	say('a record can be used as its id, and a value without its fields cannot', async () => {
		const article = await articles.get(5)
		const part = await articles.get(article, { fields: ['id', 'title'] })
		same<Same<typeof part, Pick<Article, 'id' | 'title'>>>()
		const changed = await articles.update(part, { title: 'x' }, { ifMatch: etagOf(part), fields: ['tag'] })
		same<Same<typeof changed, Pick<Article, 'tag'>>>()
		await articles.replace({ id: 5 }, { title: 'x' }, { ifMatch: '*' })
		await articles.delete(changed)
		same<Same<ReturnType<typeof etagOf>, string | undefined>>()
		const wrong = [
			// @ts-expect-error: a field that articles don't have
			() => articles.delete({ slug: 'x' }),
			// @ts-expect-error: a key of another type
			() => articles.update({ id: 'x' }, {}),
			// @ts-expect-error: no id
			() => articles.get(true),
			// @ts-expect-error: nothing is there yet
			() => articles.create({ title: 'x' }, { ifMatch: '*' }),
			// @ts-expect-error: a change is not a create
			() => articles.update(5, { title: 'x' }, { idempotencyKey: 'x' }),
			// @ts-expect-error: a read changes nothing
			() => articles.get(5, { ifMatch: '"1"' }),
			// @ts-expect-error: an id has no ETag
			() => etagOf(5),
		]
		return wrong
	})

	say('options are typed', () => {
		const good: CrudClientOptions[] = [
			{ sign: (request) => signRequest(request, { id: 'k1', secret: 'x' }) },
			{ sign: (request) => request, retries: 0, methodOverride: true, key: 'slug' },
			{ fetch: (url, init) => globalThis.fetch(url, { ...init, credentials: 'include' }) },
		]
		const bad: CrudClientOptions[] = [
			// @ts-expect-error: no such option
			{ retry: 2 },
			// @ts-expect-error: not how often
			{ retries: '2' },
			// @ts-expect-error: nothing is answered
			{ sign: async () => {} },
			// @ts-expect-error: not the headers of fetch
			{ headers: new Headers() },
		]
		const more: RecordOrId<Article>[] = [5, 5n, '5', { id: 5 }]
		return [good, bad, more]
	})

	say('an error has the seconds to wait', () => {
		const error = new ApiError('busy', { status: 503, code: 'unavailable', retryAfterSeconds: 5 })
		same<Same<typeof error.retryAfterSeconds, number | undefined>>()
	})

	say('without a type, records may have any fields', async () => {
		const things = new CrudClient('thing', '/api', { fetch })
		const { data } = await things.list({ where: { a: 1, b: { gt: 'x' } }, sort: '-a', fields: ['a'] })
		same<Same<typeof data, { a: unknown }[]>>()
		await things.create({ a: [1], b: { c: 2 } })
		await things.list({ filter: { or: [{ a: 1 }] } })
	})
})
