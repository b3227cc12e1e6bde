/** The blog's API. Each method answers what its name, or its line in `customRoutes`, says. */
import { RestError, RestHandler, reply } from '../../lib/index.ts' // you write 'verbena'
import type { Article, Author, Comment } from './records.ts'
import type { Shelf } from './shelf.ts'

/** What the blog keeps, shared by all requests. */
export interface Shelves {
	readonly authors: Shelf<Author>
	readonly articles: Shelf<Article>
	readonly comments: Shelf<Comment>
}

const PAGE = {
	limit: ['integer', { min: 1, max: 50, default: 10 }],
	offset: ['integer', { min: 0, default: 0 }],
} as const

const TITLE = ['string', { min: 1, max: 200 }] as const
const BODY = ['string', { min: 1, max: 20_000 }] as const
const TAGS = { of: ['string', { pattern: /^[a-z]+$/, max: 30 }], max: 10 } as const

export class Blog extends RestHandler {
	override customRoutes = {
		'GET authors/%d/articles': 'articlesOf',
		'GET articles/%d/comments': 'commentsOn',
		'POST articles/%d/comments': 'addComment',
	}

	override access = {
		post_articles: ['article:write'],
		patch_articles: ['article:write'],
		delete_articles: ['article:delete'],
		addComment: ['comment:write'],
	}

	private readonly shelves: Shelves

	constructor(shelves: Shelves) {
		super()
		this.shelves = shelves
	}

	get_authors(id?: string) {
		if (id !== undefined) return this.author(id)
		return this.listed(this.shelves.authors)
	}

	get_articles(id?: string) {
		if (id !== undefined) return this.article(id)
		const { tag } = this.getParams({ tag: ['string'] }, this.query)
		return this.listed(this.shelves.articles, ({ tags }) => tag === undefined || tags.includes(tag))
	}

	post_articles() {
		const { authorId, tags, ...text } = this.getParams({
			title: ['required', ...TITLE],
			body: ['required', ...BODY],
			authorId: ['required', 'integer'],
			tags: [{ ...TAGS, default: [] }],
		})
		const author = this.author(authorId)
		const published = new Date().toISOString().slice(0, 10)
		const article = this.shelves.articles.add({ ...text, authorId: author.id, tags, published })
		return reply(article, {
			status: 201,
			headers: { Location: `/blog/api/articles/${article.id}` },
		})
	}

	patch_articles(id: string) {
		const article = this.article(id)
		const changes = this.getParams({ title: TITLE, body: BODY, tags: [TAGS] })
		return this.shelves.articles.change(article, changes)
	}

	delete_articles(id: string) {
		const article = this.article(id)
		this.shelves.articles.remove(article)
		return article
	}

	articlesOf(authorId: number) {
		const { id } = this.author(authorId)
		return this.listed(this.shelves.articles, (article) => article.authorId === id)
	}

	commentsOn(articleId: number) {
		const { id } = this.article(articleId)
		return this.listed(this.shelves.comments, (comment) => comment.articleId === id)
	}

	addComment(articleId: number) {
		const { id } = this.article(articleId)
		const { text } = this.getParams({ text: ['required', 'string', { min: 1, max: 2_000 }] })
		const comment = this.shelves.comments.add({ articleId: id, name: this.user?.id ?? '', text })
		return reply(comment, { status: 201 })
	}

	/** Helpers are named in camelCase, so that no URL leads to them. */
	private article(id: string | number): Article {
		const article = this.shelves.articles.get(id)
		if (article === undefined) throw new RestError('not_found', 'No such article')
		return article
	}

	private author(id: string | number): Author {
		const author = this.shelves.authors.get(id)
		if (author === undefined) throw new RestError('not_found', 'No such author')
		return author
	}

	/** A page of what fits, as `limit` and `offset` in the query say. */
	private listed<T extends { readonly id: number }>(shelf: Shelf<T>, fits?: (record: T) => boolean) {
		const { limit, offset } = this.getParams(PAGE, this.query)
		const { records, total } = shelf.page(limit, offset, fits)
		return reply(records, { meta: { limit, offset, total } })
	}
}
