/** What the client's types accept and refuse of related records: see `helpers/types.ts`. */
import {
	CrudClient,
	type Filter,
	type Include,
	type ListQuery,
	type Many,
	type NoRelations,
	type One,
	type RelatedMeta,
	type SelectionQuery,
} from '../../lib/client/index.ts'
import { type Same, same } from '../helpers/same.ts'
import { types } from '../helpers/types.ts'

interface Author {
	readonly id: number
	readonly name: string
}

interface Comment {
	readonly id: number
	readonly text: string
	readonly spam: boolean
}

interface Article {
	readonly id: number
	readonly title: string
	readonly tag: string | null
}

/** In a circle. */
interface ArticleRelations {
	author: One<Author, AuthorRelations>
	comments: Many<Comment, { author: Author }>
}

interface AuthorRelations {
	articles: Many<Article, ArticleRelations>
}

const plain = new CrudClient<Article, { author: Author; comments: Many<Comment> }>('article', '/blog')
const articles = new CrudClient<Article, ArticleRelations>('article', '/blog')
const authors = new CrudClient<Author, AuthorRelations>('author', '/blog')

types('client: types of related records', (say) => {
	say('records have what is included, and only that', async () => {
		const [without] = (await plain.list()).data
		same<Same<typeof without, Article | undefined>>()
		const { author, comments, title } = await plain.get(7, { include: ['author', 'comments'] })
		same<Same<typeof author, Author | null>>()
		same<Same<typeof comments, Many<Comment>>>()
		same<Same<typeof title, string>>()
		same<Same<typeof comments.meta, RelatedMeta>>()
		const [some] = (await plain.list({ fields: ['title'], include: ['author'] })).data
		same<Same<keyof NonNullable<typeof some>, 'title' | 'author'>>()
		for await (const { data } of plain.pages({ include: ['author'] }))
			same<Same<(typeof data)[0]['author'], Author | null>>()
		// @ts-expect-error: not included
		void without?.author
		// @ts-expect-error: it may be missing
		void author.name
	})

	say('also those of related records, by names or by settings', async () => {
		const [one] = (await articles.list({ include: ['comments.author'] })).data
		const comment = one?.comments.data[0]
		same<Same<NonNullable<typeof comment>['author'], Author | null>>()
		same<Same<typeof comment extends Comment | undefined ? true : false, true>>()
		const read = await articles.get(7, {
			include: {
				author: { fields: ['name'], include: { articles: { include: ['author'], limit: 1 } } },
				comments: {
					limit: 3,
					sort: '-id',
					fields: ['text', 'author.name'],
					filter: { spam: false },
					count: 10,
				},
			},
		})
		same<Same<keyof NonNullable<typeof read.author>, 'name' | 'articles'>>()
		const [again] = read.author?.articles.data ?? []
		same<Same<NonNullable<typeof again>['author'], Author | null>>()
		const [text] = read.comments.data
		same<Same<keyof NonNullable<typeof text>, 'text' | 'author'>>()
		same<Same<keyof NonNullable<NonNullable<typeof text>['author']>, 'name'>>()
		const { author } = await articles.get(7, { include: { author: true } })
		same<Same<typeof author, Author | null>>()
		const { comments } = await articles
			.list({
				include: {
					comments: {
						filter: {
							or: [
								{ author: { name: ['x', null] }, 'author.id': { gte: 3, in: [5n] } },
								{ not: { and: [{ text: { gt: new Date(0) } }, { author: null }] } },
							],
						},
					},
					author: { include: { articles: { include: { comments: { filter: { spam: [true] } } } } } },
				},
			})
			.then(({ data: [one] }) => one ?? Promise.reject())
		same<Same<typeof comments, Many<Comment>>>()
		const bad = [
			// @ts-expect-error: no such relation
			() => articles.get(7, { include: ['editor'] }),
			// @ts-expect-error: no such relation of comments
			() => articles.get(7, { include: ['comments.article'] }),
			// @ts-expect-error: no such relation
			() => articles.get(7, { include: { editor: true } }),
			// @ts-expect-error: no such setting
			() => articles.get(7, { include: { comments: { limits: 3 } } }),
			// @ts-expect-error: no such setting, deeper
			() => articles.get(7, { include: { comments: { include: { author: { field: ['name'] } } } } }),
			// @ts-expect-error: no such field to filter by
			() => articles.list({ include: { comments: { filter: { name: 'x' } } } }),
			// @ts-expect-error: nor deeper, of a relation
			() => articles.get(7, { include: { comments: { filter: { author: { nme: 'x' } } } } }),
			// @ts-expect-error: nor in a quantifier
			() => authors.get(7, { include: { articles: { filter: { comments: { none: { id: 1, x: 2 } } } } } }),
			// @ts-expect-error: nor in a list of alternatives
			() => articles.get(7, { include: { comments: { filter: { or: [{ spam: true, txt: 'x' }] } } } }),
			// @ts-expect-error: nor in a list of conditions
			() => articles.get(7, { include: { comments: { filter: { and: [{ spam: true, txt: 'x' }] } } } }),
			// @ts-expect-error: nor negated
			() => articles.get(7, { include: { comments: { filter: { not: { spam: true, txt: 'x' } } } } }),
			// @ts-expect-error: no such operator
			() => articles.get(7, { include: { comments: { filter: { text: { eq: 'x', contians: 'y' } } } } }),
			// @ts-expect-error: one record has no limit
			() => articles.get(7, { include: { author: { limit: 3 } } }),
			// @ts-expect-error: no such field of comments
			() => articles.get(7, { include: { comments: { sort: 'name' } } }),
			// @ts-expect-error: a number isn't a boolean
			() => articles.get(7, { include: { comments: { filter: { spam: 5 } } } }),
			// @ts-expect-error: no relations
			() => new CrudClient<Article>('article', '/blog').get(7, { include: ['author'] }),
		]
		return bad
	})

	say('fields with dots include what they name', async () => {
		const [one] = (await articles.list({ fields: ['title', 'author.name', 'comments.author.name'] })).data
		same<Same<keyof NonNullable<typeof one>, 'title' | 'author' | 'comments'>>()
		same<Same<NonNullable<NonNullable<typeof one>['author']>['name'], string>>()
		same<Same<keyof NonNullable<NonNullable<typeof one>['author']>, 'name'>>()
		same<Same<keyof NonNullable<typeof one>['comments']['data'][0], 'author'>>()
		const { author } = await articles.get(7, { fields: ['author'] })
		same<Same<typeof author, Author | null>>()
		// @ts-expect-error: no such field of authors
		void articles.get(7, { fields: ['author.text'] })
	})

	say('conditions and orders', () => {
		type Query = ListQuery<Article, ArticleRelations>
		const good: Query[] = [
			{ where: { 'author.name': 'Ada', 'comments.spam': false, title: { contains: 'x' } } },
			{ where: { 'comments.author.name': ['Ada', 'Bob'], 'comments.id': { gte: 3 } } },
			{ filter: { author: { name: 'Ada' }, comments: { none: { spam: true }, count: { gte: 3 } } } },
			{ filter: { or: [{ author: null }, { comments: { every: { author: { name: 'Ada' } } } }] } },
			{ filter: { comments: { some: {}, count: 3 }, 'author.name': { startsWith: 'A' } } },
			{ filter: { author: { articles: { some: { author: { id: 1 } } } } } },
			{ sort: 'author.name' },
			{ sort: ['-author.name', 'title'], count: 1_000 },
		]
		const bad: Query[] = [
			// @ts-expect-error: no such field of authors
			{ where: { 'author.text': 'x' } },
			// @ts-expect-error: a text isn't a boolean
			{ where: { 'comments.spam': 'x' } },
			// @ts-expect-error: no such relation
			{ filter: { editor: { name: 'x' } } },
			// @ts-expect-error: which of many?
			{ filter: { comments: { spam: true } } },
			// @ts-expect-error: a count is a number
			{ filter: { comments: { count: '3' } } },
			// @ts-expect-error: an author has no other type
			{ filter: { author: { id: 'x' } } },
			// @ts-expect-error: many records have no order among their parents
			{ sort: 'comments.text' },
			// @ts-expect-error: no such field of authors
			{ sort: '-author.text' },
		]
		const counted = (query: SelectionQuery<Article, ArticleRelations>) => articles.count(query)
		return [good, bad, counted]
	})

	say('changes answer with what is included', async () => {
		const made = await articles.create({ title: 'x' }, { include: ['author'] })
		same<Same<typeof made.author, Author | null>>()
		const changed = await articles.update(made, { title: 'y' }, { fields: ['id'], include: ['comments'] })
		same<Same<keyof typeof changed, 'id' | 'comments'>>()
		const replaced = await articles.replace(7, { title: 'z' }, { include: { comments: { limit: 1 } } })
		same<Same<typeof replaced.comments, Many<Comment>>>()
		const gone = await articles.delete(replaced, { include: ['author'] })
		same<Same<typeof gone.author, Author | null>>()
	})

	say('an include in a variable may be any', async () => {
		const include: Include<Article, ArticleRelations> = { author: true }
		const { author } = await articles.get(7, { include })
		same<Same<typeof author, Author | null | undefined>>()
		const filter: Filter<Comment, { author: Author }> = { author: { name: 'x' } }
		const filtered = await articles.get(7, { include: { comments: { filter, limit: 3 } } })
		same<Same<typeof filtered.comments, Many<Comment>>>()
		const names = ['author'] as const
		const named = await articles.get(7, { include: names })
		same<Same<typeof named.author, Author | null>>()
		const query: ListQuery<Article, ArticleRelations> = { limit: 3 }
		const [one] = (await articles.list(query)).data
		same<Same<typeof one extends { comments?: Many<Comment> } | undefined ? true : false, true>>()
	})

	say('what belongs to a record has calls of its own', async () => {
		const comments = articles.related(7, 'comments')
		const { data } = await comments.list({ where: { spam: false }, include: ['author'], limit: 3 })
		same<Same<(typeof data)[0]['author'], Author | null>>()
		for await (const page of comments.pages()) same<Same<typeof page.data, Comment[]>>()
		same<Same<ReturnType<typeof comments.count>, Promise<number>>>()
		const made = await comments.create({ text: 'Mine' })
		same<Same<typeof made, Comment>>()
		await comments.tie(made)
		await comments.untie(3)
		const author = await articles.related(await articles.get(7), 'author').get({ fields: ['name'] })
		same<Same<typeof author, Pick<Author, 'name'>>>()
		const inner = await articles.related(7, 'author').get({ include: ['articles'] })
		same<Same<typeof inner.articles, Many<Article>>>()
		const bad = [
			// @ts-expect-error: no such relation
			() => articles.related(7, 'editor'),
			// @ts-expect-error: one record is no list
			() => articles.related(7, 'author').list(),
			// @ts-expect-error: several records
			() => articles.related(7, 'comments').get(),
			// @ts-expect-error: they are changed by a client of their own
			() => articles.related(7, 'comments').update(3, {}),
			// @ts-expect-error: no relations
			() => new CrudClient<Article>('article', '/blog').related(7, 'author'),
		]
		return bad
	})

	say('records with any fields include anything', async () => {
		const things = new CrudClient('thing', '/api')
		const { data } = await things.list({ include: ['owner'], limit: 3 })
		same<Same<typeof data, Record<string, unknown>[]>>()
		await things.list({ include: { owner: { fields: ['name'] } }, where: { 'owner.name': 'x' } })
	})

	say('what may be written is the third type', async () => {
		const writers = new CrudClient<Article, NoRelations, { title: string }>('article', '/blog')
		await writers.create({ title: 'x' })
		// @ts-expect-error: not writable
		await writers.create({ title: 'x', tag: 'y' })
		void authors
	})
})
