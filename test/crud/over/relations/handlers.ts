/** Handlers with relations of every kind over the tables of `stores.ts`; most of them scoped by headers. */
import { CrudHandler, type CrudScope, createServer } from '../../../../lib/index.ts'
import { Log } from '../../../helpers/listening.ts'
import type { Asked } from '../things.ts'
import { type Members, runBatch } from './batch.ts'
import type { Models } from './stores.ts'

const PAGES = { limit: 3, maxLimit: 5, includeDepth: 3, columns: 'camelCase' } as const

/** Limits each request to the people of the team in its header. */
class TeamPeople extends CrudHandler {
	override scope() {
		const team = this.request.header('x-team')
		return team === undefined ? {} : { team }
	}

	override fields() {
		return this.request.header('x-nameless') === undefined ? {} : { hidden: ['name'] }
	}
}

/** Limits each request to the articles that are done, if a header says so, or also to those of a team or with comments. */
class DoneArticles extends CrudHandler {
	override scope(): CrudScope {
		const done = this.request.header('x-done')
		if (done === undefined) return {}
		if (done === '1') return { done: true }
		const team = this.request.header('x-team') ?? 'red'
		return {
			or: [
				{ done: { ne: false } },
				{ author: { team } },
				{ comments: { some: { hidden: false, score: { gt: 2 } } } },
			],
		}
	}
}

/** Limits each request to the tags with the words in its header. */
class WordTags extends CrudHandler {
	override scope() {
		const words = this.request.header('x-words')
		return words === undefined ? {} : { word: words.split(',') }
	}
}

/** Shows names in another form. */
class Profiles extends TeamPeople {
	override stripObject(person: Record<string, unknown>) {
		return { ...person, name: `Dr ${person.name}` }
	}
}

/** Limits each request to the comments that aren't hidden, unless a header asks for all. */
class ShownComments extends CrudHandler {
	override scope() {
		return this.request.header('x-all') === undefined ? { hidden: false } : {}
	}
}

/** Reads in its own way, so that related records are asked for one by one. */
class OwnComments extends ShownComments {
	override list(query?: Parameters<CrudHandler['list']>[0]) {
		return super.list(query)
	}
}

export function handlersOf({ person, article, comment, tag, tie }: Models) {
	const members = (): Members => ({ articles, comments, article, person, tie })
	class Articles extends DoneArticles {
		post_batch() {
			return runBatch('articles', { ...members(), articles: this })
		}
	}
	class Comments extends ShownComments {
		post_batch() {
			return runBatch('comments', { ...members(), comments: this })
		}
	}
	const people: CrudHandler = new TeamPeople(person, {
		...PAGES,
		visible: ['id', 'name'],
		relations: {
			articles: { to: () => articles, by: 'authorId', limit: 2 },
			edited: { to: () => articles, by: 'editorId' },
			remarks: { to: () => remarks, limit: 2 },
			comments: { to: () => comments, limit: 2, maxLimit: 3 },
		},
	})
	const profiles = new Profiles(person, { ...PAGES, visible: ['id', 'name'], allow: ['read'] })
	const articles: CrudHandler = new Articles(article, {
		...PAGES,
		visible: ['id', 'title', 'authorId', 'editorId', 'parentId', 'score', 'price', 'day', 'done', 'version'],
		updatable: ['title', 'editorId', 'score'],
		searchable: ['title'],
		allow: ['list', 'read', 'update', 'totals'],
		totals: {
			by: [
				'title',
				'score',
				'day',
				'done',
				'author.name',
				'editor.name',
				'profile.name',
				'parent.author.name',
			],
			of: ['score', 'price', 'title'],
		},
		version: 'version',
		relations: {
			author: { to: people, by: 'authorId' },
			editor: { to: people, by: 'editorId' },
			profile: { to: profiles, by: 'editorId' },
			parent: { to: () => articles },
			children: { to: () => articles, many: true, limit: 2 },
			comments: { to: () => comments, limit: 2 },
			opinions: { to: () => opinions, limit: 2 },
			tags: { to: () => tags, through: tie, limit: 2, writable: ['tie'] },
		},
	})
	const comments: CrudHandler = new Comments(comment, {
		...PAGES,
		visible: ['articleId', 'n', 'authorId', 'text', 'score'],
		creatable: ['articleId', 'n', 'authorId', 'text', 'score'],
		allow: ['list', 'read', 'create', 'remove', 'totals'],
		totals: { by: ['n', 'author.name', 'article.title', 'article.editor.name'], of: ['score', 'n'] },
		relations: { article: { to: articles }, author: { to: people } },
	})
	/** Comments without their key. */
	const opinions: CrudHandler = new ShownComments(comment, {
		...PAGES,
		visible: ['text', 'score'],
		relations: { author: { to: people } },
	})
	const remarks: CrudHandler = new OwnComments(comment, {
		...PAGES,
		visible: ['articleId', 'n', 'authorId', 'text', 'score'],
		relations: { article: { to: articles }, author: { to: people } },
	})
	const tags: CrudHandler = new WordTags(tag, {
		...PAGES,
		visible: ['id', 'word', 'price'],
		relations: { articles: { to: articles, through: tie, limit: 2 } },
	})
	const ties = new CrudHandler(tie, {
		...PAGES,
		visible: ['articleId', 'tagId', 'note'],
		relations: { article: { to: articles }, tag: { to: tags } },
	})
	return { people, profiles, articles, comments, opinions, remarks, tags, ties }
}

export function serve(models: Models): Asked {
	const log = new Log()
	const server = createServer(handlersOf(models), { logger: log, logRequests: false })
	return { log, ask: (request) => server.inject(request) }
}
