/** Handlers for the example blog's tables in a dialect, for the tests of other servers' data providers. */
import type { Tables } from '../../../examples/blog/fill.ts'
import { type CrudDialect, CrudHandler, type Handlers } from '../../../lib/index.ts'

const ALLOW = ['list', 'read', 'create', 'update', 'remove'] as const

export function handlersIn(dialect: CrudDialect, tables: Tables): Handlers {
	const authors = new CrudHandler(tables.authors, { visible: ['id', 'name', 'about'], dialect })
	const comments = new CrudHandler(tables.comments, {
		...{ columns: 'camelCase', visible: ['id', 'articleId', 'name', 'text'] },
		...{ updatable: ['text'], creatable: ['articleId', 'name', 'text'], allow: ALLOW, dialect },
	})
	const articles = new CrudHandler(tables.articles, {
		...{ columns: 'camelCase', visible: ['id', 'authorId', 'topic', 'title', 'body', 'version'] },
		...{ creatable: ['authorId', 'topic', 'title', 'body'], updatable: ['topic', 'title', 'body'] },
		...{ searchable: ['title'], allow: ALLOW, version: 'version', dialect },
		rules: { title: [{ min: 3 }] },
		relations: { author: { to: authors }, comments: { to: comments } },
	})
	return {
		[`${dialect}/authors`]: authors,
		[`${dialect}/articles`]: articles,
		[`${dialect}/comments`]: comments,
	}
}
