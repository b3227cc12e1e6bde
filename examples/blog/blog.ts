/** The blog's API: a handler for each table, and one without a table. */
import { CrudHandler, type CrudValues, type Handlers, type Model, RestHandler } from '../../lib/index.ts' // 'verbena'
import type { Tables } from './fill.ts'

/** The handlers by path. */
export function blog(tables: Tables): Handlers {
	const comments = new Comments(tables.comments)
	const authors = new Authors(tables.authors, () => articles)
	const articles = new Articles(tables.articles, authors, comments)
	return {
		'blog/api': new Overview(tables),
		'blog/api/authors': authors,
		'blog/api/articles': articles,
		'blog/api/comments': comments,
	}
}

class Overview extends RestHandler {
	override docs = { get__default: { summary: 'How many authors, articles and comments there are' } }
	private readonly tables: Tables

	constructor(tables: Tables) {
		super()
		this.tables = tables
	}

	async get__default() {
		const { authors, articles, comments } = this.tables
		const counts = [authors, articles, comments].map((model) => model.count(undefined))
		const [writers, written, said] = await Promise.all(counts)
		return { authors: writers, articles: written, comments: said }
	}
}

/** An author's e-mail address can be written, but is never shown. */
class Authors extends CrudHandler {
	override access = { create: ['author:write'], update: ['author:write'] }

	constructor(model: Model, articles: () => Articles) {
		super(model, {
			visible: ['id', 'name', 'about', 'joined'],
			updatable: ['name', 'email', 'about'],
			searchable: ['name', 'about'],
			allow: ['list', 'read', 'create', 'update'],
			rules: { name: [{ min: 1 }], email: ['email'], about: [{ max: 2_000 }] },
			relations: { articles: { to: articles, limit: 5 } },
		})
	}
}

class Articles extends CrudHandler {
	override access = { create: ['article:write'], update: ['article:write'], remove: ['article:delete'] }

	constructor(model: Model, authors: Authors, comments: Comments) {
		super(model, {
			columns: 'camelCase',
			visible: ['id', 'authorId', 'published', 'topic', 'title', 'body', 'tags'],
			creatable: ['authorId', 'topic', 'title', 'body', 'tags'],
			updatable: ['topic', 'title', 'body', 'tags'],
			filterable: ['authorId', 'published', 'topic', 'title'],
			sortable: ['id', 'published', 'title'],
			searchable: ['title', 'body'],
			allow: ['list', 'read', 'create', 'update', 'remove', 'totals'],
			totals: { by: ['topic', 'published', 'author.name'] },
			version: 'version', // concurrent changes of an article don't overwrite each other
			rules: {
				topic: [{ pattern: /^[a-z]+$/ }],
				title: [{ min: 1 }],
				body: [{ min: 1, max: 20_000 }],
				tags: [{ of: ['string', { pattern: /^[a-z-]+$/, max: 30 }], max: 10 }],
			},
			relations: { author: { to: authors }, comments: { to: comments, limit: 5 } },
		})
	}
}

/** A comment gets the name of the user who sent it. */
class Comments extends CrudHandler {
	override access = { create: ['comment:write'], remove: ['comment:delete'] }

	constructor(model: Model) {
		super(model, {
			columns: 'camelCase',
			visible: ['id', 'articleId', 'name', 'text', 'written'],
			creatable: ['articleId', 'text'],
			filterable: ['id', 'articleId', 'name', 'written'],
			sortable: ['id', 'written'],
			allow: ['list', 'read', 'create', 'remove', 'removeMany'], // spam comes in bulk
			rules: { text: [{ min: 1 }] },
		})
	}

	override create(values: CrudValues) {
		return super.create({ ...values, name: this.user?.id })
	}
}
