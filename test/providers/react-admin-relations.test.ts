/** Related records through the data provider for react-admin, on each of the stores. */
import * as assert from 'uvu/assert'
import { CrudHandler, type Handlers } from '../../lib/index.ts'
import type { AnyRecord, Options } from '../../lib/providers/react-admin.ts'
import { handlersOf } from '../crud/over/relations/handlers.ts'
import { type Models, openStores, type Rows } from '../crud/over/relations/stores.ts'
import { describe } from '../helpers/describe.ts'
import { atDesk, type Desk, refusalOf } from './desk.ts'

const article = { editor_id: null, parent_id: null, score: 1, price: null, day: null, done: true, version: 1 }
const comment = { author_id: null, score: null, hidden: false }

const ROWS: Rows = {
	person: [
		{ id: 1, name: 'Ada', team: 'a', secret: 'x' },
		{ id: 2, name: 'Bob', team: 'a', secret: 'y' },
	],
	article: [
		{ ...article, id: 1, title: 'Sage', author_id: 2 },
		{ ...article, id: 2, title: 'Thyme', author_id: 1, editor_id: 2 },
		{ ...article, id: 3, title: 'Mint', author_id: 1, parent_id: 1 },
	],
	comment: [
		{ ...comment, article_id: 1, n: 1, text: 'Which soil?', author_id: 1 },
		{ ...comment, article_id: 1, n: 2, text: 'Sandy' },
		{ ...comment, article_id: 1, n: 3, text: 'Mine died' },
		{ ...comment, article_id: 2, n: 1, text: 'For tea' },
	],
	tag: [
		{ id: 1, word: 'herb', price: null },
		{ id: 2, word: 'tea', price: null },
	],
	tie: [
		{ article_id: 1, tag_id: 1, note: null },
		{ article_id: 2, tag_id: 1, note: null },
		{ article_id: 2, tag_id: 2, note: null },
	],
}

/** Nobody is a user here. */
class Members extends CrudHandler {
	override authenticator = { authenticate: () => null }
	override access = { '*': 'user' }
}

function mounted(models: Models): Handlers {
	const { articles, people, comments, tags } = handlersOf(models)
	const members: CrudHandler = new Members(models.person, { visible: ['id', 'name'] })
	const closed = new CrudHandler(models.article, {
		visible: ['id', 'title'],
		updatable: ['title'],
		allow: ['list', 'read', 'update'],
		relations: { author: { to: members, by: 'author_id' } },
	})
	return Object.fromEntries(
		Object.entries({ articles, people, comments, tags, closed }).map(([name, one]) => [`api/${name}`, one]),
	)
}

const OPTIONS: Partial<Options> = {
	keys: { comments: ['articleId', 'n'] },
	relations: {
		articles: { author: 'people', editor: 'people', comments: 'comments', tags: 'tags' },
		comments: { article: 'articles', author: 'people' },
	},
}
const BY_ID = {
	pagination: { page: 1, perPage: 10 },
	sort: { field: 'id', order: 'ASC' },
	filter: {},
} as const

const stores = await openStores('provider')

for (const store of stores)
	describe(`react-admin: relations, ${store.name}`, (test) => {
		/** A provider over fresh records. */
		const atArticles = (use: (desk: Desk) => Promise<void>) => async () =>
			atDesk(use, OPTIONS, mounted(await store.filled(ROWS)))

		test.after(() => store.close())

		test(
			'embedded records are objects or null and arrays, by one request for all; what is left of a list is told',
			atArticles(async ({ provider, asked }) => {
				const meta = { embed: ['author', 'editor', 'comments.author'], fields: ['id', 'title'] }
				const { data, total } = await provider.getList('articles', { ...BY_ID, meta })
				assert.is(asked.length, 1)
				assert.is(total, 3)
				const [sage, thyme] = data
				const ada = { id: 1, name: 'Ada' }
				const bob = { id: 2, name: 'Bob' }
				assert.equal([sage?.author, sage?.editor, thyme?.author, thyme?.editor], [bob, null, ada, bob])
				const soil = { articleId: 1, n: 1, authorId: 1, text: 'Which soil?', score: null, author: ada }
				const sandy = { ...soil, n: 2, authorId: null, text: 'Sandy', author: null }
				assert.equal(sage?.comments, [
					{ ...soil, id: '1,1' },
					{ ...sandy, id: '1,2' },
				])
				const { limit, next } = metaOf(sage).comments ?? {}
				assert.equal([limit, typeof next], [2, 'string'])
				assert.equal(metaOf(thyme), { comments: { limit: 2, next: null } })
			}),
		)

		test(
			'every method that returns records embeds, with settings too',
			atArticles(async ({ provider }) => {
				const embed = { author: { fields: ['name'] }, comments: { limit: 1, sort: '-n', count: true } }
				const call = { meta: { embed } }
				const wanted = (record: AnyRecord | undefined) => [
					record?.author,
					(record as unknown as { comments: { text: string }[] }).comments.map(({ text }) => text),
					metaOf(record).comments?.total,
				]
				const sage = [{ name: 'Bob' }, ['Mine died'], 3]
				assert.equal(wanted((await provider.getOne('articles', { id: 1, ...call })).data), sage)
				const many = await provider.getMany('articles', { ids: [1, 2], ...call })
				assert.equal(many.data.map(wanted), [sage, [{ name: 'Ada' }, ['For tea'], 1]])
				const belonging = await provider.getManyReference('articles', {
					...{ ...BY_ID, ...call, target: 'authorId', id: 2 },
				})
				assert.equal(belonging.data.map(wanted), [sage])
				const previousData = { id: 1, title: 'Sage', authorId: 2 }
				const data = { ...previousData, title: 'Clary' }
				const changed = await provider.update('articles', { id: 1, data, previousData, ...call })
				assert.equal([changed.data.title, ...wanted(changed.data)], ['Clary', ...sage])
				const made = await provider.create('comments', {
					data: { articleId: 3, n: 1, text: 'New', authorId: 2 },
					meta: { embed: ['author', 'article'] },
				})
				const { author, article: of } = made.data as unknown as Record<string, AnyRecord>
				assert.equal([made.data.id, author?.name, of?.title], ['3,1', 'Bob', 'Mint'])
				const gone = await provider.delete('comments', { id: '3,1', meta: { embed: ['author'] } })
				assert.equal([gone.data.text, (gone.data.author as AnyRecord).name], ['New', 'Bob'])
			}),
		)

		test(
			'an edited record with embedded ones sends its own changes only',
			atArticles(async ({ provider, asked }) => {
				const meta = { embed: ['author', 'tags'] }
				const { data: previousData } = await provider.getOne('articles', { id: 1, meta })
				const data = { ...structuredClone(previousData), title: 'Clary' }
				await provider.update('articles', { id: 1, data, previousData, meta })
				assert.is(asked[1]?.body, '{"title":"Clary"}')
			}),
		)

		test(
			"meta.prefetch fills react-admin's cache, each record once, and leaves the records alone",
			atArticles(async ({ provider }) => {
				const meta = { prefetch: ['author', 'editor', 'comments'] }
				const { data, meta: found } = await provider.getList('articles', { ...BY_ID, meta })
				assert.equal(
					data.filter((record) => 'author' in record || 'comments' in record || '_meta' in record),
					[],
				)
				const { people, comments } = (found as { prefetched: Record<string, AnyRecord[]> }).prefetched
				assert.equal(people, [
					{ id: 2, name: 'Bob' },
					{ id: 1, name: 'Ada' },
				])
				assert.equal(
					comments?.map(({ id }) => id),
					['1,1', '1,2', '2,1'],
				)
				const both = await provider.getOne('articles', { id: 1, meta: { ...meta, embed: ['author'] } })
				assert.equal(both.data.author, { id: 2, name: 'Bob' })
				await assertTypeError(
					provider.getOne('articles', { id: 1, meta: { prefetch: ['children'] } }),
					'children',
				)
			}),
		)

		test(
			'filters and sort go through relations',
			atArticles(async ({ provider }) => {
				const filtered = async (filter: object) =>
					(await provider.getList('articles', { ...BY_ID, filter: { ...filter } })).data.map(({ id }) => id)
				assert.equal(await filtered({ 'author.name': 'Ada' }), [2, 3])
				assert.equal(await filtered({ author: { name: 'Ada' } }), [2, 3])
				assert.equal(await filtered({ author: { name_startsWith: 'A' }, title_ne: 'Mint' }), [2])
				assert.equal(await filtered({ editor: null }), [1, 3])
				assert.equal(await filtered({ comments: { text: { contains: 'tea' } } }), [2])
				assert.equal(await filtered({ comments: { count: { gte: 3 } } }), [1])
				assert.equal(await filtered({ tags: { none: { word: 'herb' } } }), [3])
				const { data } = await provider.getList('articles', {
					...BY_ID,
					sort: { field: 'author.name', order: 'DESC' },
				})
				assert.equal(data[0]?.title, 'Sage')
			}),
		)

		const targets: [reference: string, target: string, id: string | number, found: unknown[]][] = [
			['articles', 'authorId', 1, [2, 3]],
			['articles', 'author.id', 1, [2, 3]],
			['articles', 'author', 1, [2, 3]],
			['articles', 'people/articles', 1, [2, 3]],
			['comments', 'articles/comments', 1, ['1,1', '1,2', '1,3']],
			['comments', 'article', 2, ['2,1']],
			['tags', 'articles/tags', 2, [1, 2]],
			['articles', 'tags.id', 1, [1, 2]],
			['articles', 'tags', 2, [2]],
			['articles', 'tags/articles', 2, [2]],
		]
		for (const [reference, target, id, found] of targets)
			test(
				`getManyReference of ${reference} by the target ${target} lists what belongs to ${id}`,
				atArticles(async ({ provider }) => {
					const result = await provider.getManyReference(reference, { ...BY_ID, target, id })
					assert.equal([result.data.map((record) => record.id), result.total], [found, found.length])
				}),
			)

		test(
			'below a record, pages, order, filters and embedded records are those of any list',
			atArticles(async ({ provider, asked }) => {
				const { data, total, pageInfo } = await provider.getManyReference('comments', {
					...{ target: 'articles/comments', id: 1, pagination: { page: 2, perPage: 1 } },
					sort: { field: 'id', order: 'DESC' },
					...{ filter: { text_ne: 'Mine died' }, meta: { embed: ['author'] } },
				})
				assert.is(
					asked[0]?.url,
					'/api/articles/1/comments?limit=1&offset=1&sort=-articleId,-n&count=exact&include=author&text[ne]=Mine died',
				)
				const [soil] = data
				assert.equal([soil?.text, soil?.author, total], ['Which soil?', { id: 1, name: 'Ada' }, 2])
				assert.equal(pageInfo, { hasNextPage: false, hasPreviousPage: true })
				const none = provider.getManyReference('comments', { ...BY_ID, target: 'articles/comments', id: 9 })
				assert.is((await refusalOf(none)).status, 404)
			}),
		)

		test(
			"what the server doesn't include is refused with its words, and nothing is changed",
			atArticles(async ({ provider }) => {
				const unknown = provider.getList('articles', { ...BY_ID, meta: { embed: ['writer'] } })
				const { status, message } = await refusalOf(unknown)
				assert.is(status, 400)
				assert.match(message, /^include may only name author, editor/)
				const meta = { embed: ['author'] }
				const previousData = { id: 1, title: 'Sage' }
				for (const work of [
					provider.getList('closed', { ...BY_ID, meta }),
					provider.getOne('closed', { id: 1, meta }),
					provider.getList('closed', { ...BY_ID, filter: { author: { name: 'Ada' } } }),
					provider.update('closed', { id: 1, data: { title: 'x' }, previousData, meta }),
				]) {
					const refused = await refusalOf(work)
					assert.equal([refused.status, refused.message], [401, 'Unauthorized'])
				}
				const { data } = await provider.getOne('closed', { id: 1 })
				assert.equal(data, { id: 1, title: 'Sage' })
			}),
		)
	})

function metaOf(record: AnyRecord | undefined) {
	return (record?._meta ?? {}) as Record<string, { limit?: number; next?: unknown; total?: number }>
}

async function assertTypeError(work: Promise<unknown>, name: string): Promise<void> {
	const thrown = await work.catch((error: unknown) => error)
	assert.instance(thrown, TypeError)
	assert.match(String(thrown), name)
}
