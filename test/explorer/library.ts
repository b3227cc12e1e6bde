/** A server for tests of related records: to one, to many, many to many, keys of two fields, and what not everybody may see. */
import {
	type AccessRules,
	CrudHandler,
	createServer,
	MemoryModel,
	newToken,
	RoleAcl,
	type Server,
	TokenAuthenticator,
} from '../../lib/index.ts'
import { Log } from '../helpers/listening.ts'

const { token, digest } = newToken()

/** Of ruth, who may do everything. */
export const LIBRARIAN: string = token
/** The name of an author. */
export const HOSTILE = '<script>document.title="owned"</script>'

/** For users only. */
class Closed extends CrudHandler {
	override access: AccessRules = { '*': 'user' }
}

class Comments extends CrudHandler {
	override access: AccessRules = { create: ['comment:write'] }
}

class Articles extends CrudHandler {
	override access: AccessRules = { 'tie tags': ['tag:tie'], 'untie tags': ['tag:tie'] }
}

/** Of the authors, one is hidden from everybody. */
class Authors extends CrudHandler {
	override scope() {
		return { hidden: false }
	}
}

function models() {
	const author = new MemoryModel('author', {
		key: 'id',
		fields: { id: 'integer', born: 'text', name: 'text', hidden: { type: 'boolean', default: false } },
		rows: [
			{ name: 'Ada', born: '1815' },
			{ name: HOSTILE, born: '1990' },
			{ name: 'Secret', born: '1900', hidden: true },
			...Array.from({ length: 20 }, (_, at) => ({ name: `Writer ${at + 4}`, born: '1950' })),
		],
	})
	const shelf = new MemoryModel('shelf', {
		key: ['room', 'place'],
		fields: { room: 'integer', place: 'text', title: 'text' },
		rows: [
			{ room: 1, place: 'a,b', title: 'Poems' },
			{ room: 2, place: 'a,b', title: 'Letters' },
		],
	})
	const article = new MemoryModel('article', {
		key: 'id',
		fields: {
			...{ id: 'integer', title: 'text', authorId: 'integer', editorId: { type: 'integer', nullable: true } },
			...{ room: { type: 'integer', nullable: true }, place: { type: 'text', nullable: true } },
		},
		references: [
			{ field: 'authorId', model: author },
			{ field: 'editorId', model: author },
			{ field: ['room', 'place'], model: shelf },
		],
		rows: [
			{ title: 'Engines', authorId: 1, editorId: 2, room: 1, place: 'a,b' },
			{ title: 'Numbers', authorId: 3 },
			{ title: 'Markup', authorId: 2, editorId: 1, room: 2, place: 'a,b' },
		],
	})
	const comment = new MemoryModel('comment', {
		key: 'id',
		fields: {
			id: 'integer',
			articleId: 'integer',
			text: 'text',
			authorId: { type: 'integer', nullable: true },
		},
		references: [
			{ field: 'articleId', model: article },
			{ field: 'authorId', model: author },
		],
		rows: Array.from({ length: 12 }, (_, at) => ({
			articleId: 1,
			text: `Comment ${at + 1}`,
			authorId: (at % 2) + 1,
		})),
	})
	const note = new MemoryModel('note', {
		key: 'id',
		fields: { id: 'integer', articleId: 'integer', text: 'text' },
		references: [{ field: 'articleId', model: article }],
		rows: [{ articleId: 1, text: 'MARKER' }],
	})
	const tag = new MemoryModel('tag', {
		key: 'id',
		fields: { id: 'integer', name: 'text' },
		rows: [{ name: 'herb' }, { name: 'tea' }, { name: HOSTILE }],
	})
	const articleTag = new MemoryModel('article_tag', {
		key: ['articleId', 'tagId'],
		fields: { articleId: 'integer', tagId: 'integer' },
		references: [
			{ field: 'articleId', model: article },
			{ field: 'tagId', model: tag },
		],
		rows: [{ articleId: 1, tagId: 1 }],
	})
	const profile = new MemoryModel('profile', {
		key: 'id',
		fields: { id: 'integer', authorId: 'integer', about: 'text' },
		references: [{ field: 'authorId', model: author }],
		rows: [{ authorId: 1, about: 'Notes on engines' }],
	})
	return { author, profile, shelf, article, comment, note, tag, articleTag }
}

/** @param wrap whether articles are answered in an envelope */
export function library(wrap = true): Server {
	const { author, profile, shelf, article, comment, note, tag, articleTag } = models()
	const allow = ['list', 'read', 'create', 'update'] as const
	const authors: CrudHandler = new Authors(author, {
		...{ visible: ['id', 'born', 'name'], searchable: ['name'], limit: 10 },
		relations: {
			profile: { to: new CrudHandler(profile, { visible: ['about'] }), many: false },
			written: { to: () => articles, by: 'authorId', limit: 2 },
		},
	})
	const editors = new Closed(author, { visible: ['id', 'name'], searchable: ['name'] })
	const shelves = new CrudHandler(shelf, { visible: 'all' })
	const comments = new Comments(comment, {
		...{ visible: ['id', 'articleId', 'text', 'authorId'], creatable: ['articleId', 'text', 'authorId'] },
		...{ allow: ['list', 'read', 'create'], rules: { text: [{ min: 3 }] } },
		relations: { author: { to: authors }, article: { to: () => articles } },
	})
	const notes = new Closed(note, { visible: ['text'], relations: { about: { to: () => articles } } })
	const tags = new CrudHandler(tag, { visible: 'all', searchable: ['name'] })
	const fields = ['title', 'authorId', 'editorId', 'room', 'place']
	const articles: CrudHandler = new Articles(article, {
		...{ visible: ['id', ...fields], updatable: fields, searchable: ['title'], allow },
		relations: {
			author: { to: authors, by: 'authorId' },
			editor: { to: editors, by: 'editorId' },
			shelf: { to: shelves },
			comments: { to: comments, limit: 5 },
			notes: { to: notes },
			tags: { to: tags, through: articleTag, writable: ['tie'] },
		},
	})
	Object.assign(articles, { wrap })
	const ties = new CrudHandler(articleTag, {
		visible: 'all',
		relations: { article: { to: articles }, tag: { to: tags } },
	})
	const authenticator = new TokenAuthenticator({
		tokens: (sent) => (sent === digest ? { id: 'ruth', roles: ['librarian'] } : undefined),
	})
	const acl = new RoleAcl({ librarian: ['comment:write', 'tag:tie'] })
	return createServer(
		{
			'v1/authors': authors,
			'v2/authors': authors,
			'v2/articles': articles,
			'v2/comments': comments,
			tags,
			shelves,
			editors,
			ties,
		},
		{ explorer: true, authenticator, acl, logger: new Log(), graceTimeoutSeconds: 0.1 },
	)
}
