/** The API for the administration: authors, their articles, and the tags of articles, in memory. */
import { CrudHandler, type Handlers, MemoryModel, type Model } from '../../lib/index.ts' // you write 'verbena'

const NAMES = ['Ada Mint', 'Basil Thorne', 'Clary Wort', 'Dill Weed'] as const
const PLANTS = ['Lemon verbena', 'Thyme', 'Sage', 'Hyssop', 'Lovage', 'Sweet cicely', 'Borage', 'Chervil']
const SUBJECTS = ['through the winter', 'from cuttings', 'in a pot', 'for tea', 'and its neighbours']
const TAGS = ['herb', 'indoors', 'kitchen']
const FIRST_DAY = Date.UTC(2026, 0, 5, 9)
const DAY = 86_400_000

/** The handlers by path: react-admin's resource `articles` is the handler at `api/articles`. */
export function blogHandlers(): Handlers {
	const authors = new MemoryModel('author', {
		fields: {
			id: 'integer',
			name: { type: 'text', maxLength: 100 },
			email: { type: 'text', maxLength: 200 },
			version: { type: 'integer', default: 1 },
		},
		key: 'id',
		unique: [['email']],
		rows: NAMES.map((name) => ({ name, email: `${name.split(' ')[0]?.toLowerCase()}@example.org` })),
	})
	const articles = new MemoryModel('article', {
		fields: {
			id: 'integer',
			title: { type: 'text', maxLength: 200 },
			body: { type: 'text', nullable: true },
			status: { type: 'text', choices: ['draft', 'published'], default: 'draft' },
			authorId: 'integer',
			created: { type: 'timestamp', default: () => new Date() },
			version: { type: 'integer', default: 1 },
		},
		key: 'id',
		references: [{ field: 'authorId', model: authors }],
		rows: PLANTS.flatMap((plant) => SUBJECTS.map((subject) => `${plant} ${subject}`)).map((title, at) => ({
			title,
			body: `What we have learned about ${title.toLowerCase()} in three years.`,
			status: at % 4 === 3 ? 'draft' : 'published',
			authorId: 1 + (at % NAMES.length),
			created: new Date(FIRST_DAY + at * 3 * DAY),
		})),
	})
	const tags = new MemoryModel('tag', {
		fields: { id: 'integer', name: { type: 'text', maxLength: 40 } },
		key: 'id',
		unique: [['name']],
		rows: TAGS.map((name) => ({ name })),
	})
	const articleTags = new MemoryModel('article_tag', {
		fields: { articleId: 'integer', tagId: 'integer' },
		key: ['articleId', 'tagId'],
		references: [
			{ field: 'articleId', model: articles },
			{ field: 'tagId', model: tags },
		],
		// Articles with tags can't be deleted here; in a database, `on delete cascade` would delete their tags too.
		rows: PLANTS.flatMap((_, plant) => [
			{ articleId: plant * SUBJECTS.length + 4, tagId: 1 },
			{ articleId: plant * SUBJECTS.length + 4, tagId: 3 },
			{ articleId: plant * SUBJECTS.length + 5, tagId: 2 },
		]),
	})
	return handlersOf({ authors, articles, tags, articleTags })
}

type Models = Record<'authors' | 'articles' | 'tags' | 'articleTags', Model>

const ALLOW = ['list', 'read', 'create', 'update', 'remove', 'updateMany', 'removeMany'] as const

function handlersOf(models: Models): Handlers {
	const authors: CrudHandler = new CrudHandler(models.authors, {
		...{ visible: 'all', updatable: ['name', 'email'], searchable: ['name', 'email'] },
		...{ allow: ALLOW, version: 'version' },
		rules: { name: ['required', 'string', { min: 1 }], email: ['required', 'email'] },
		relations: { articles: { to: () => articles, limit: 5 } },
	})
	const tags: CrudHandler = new CrudHandler(models.tags, {
		...{ visible: 'all', updatable: ['name'], searchable: ['name'], allow: ALLOW },
		relations: { articles: { to: () => articles, through: models.articleTags, limit: 5 } },
	})
	const articles: CrudHandler = new CrudHandler(models.articles, {
		...{ visible: 'all', updatable: ['title', 'body', 'status', 'authorId'], searchable: ['title', 'body'] },
		...{ allow: ALLOW, version: 'version' },
		rules: { title: ['required', 'string', { min: 3 }] },
		relations: {
			author: { to: authors },
			tags: { to: tags, through: models.articleTags, limit: 5, writable: ['tie'] },
		},
	})
	return { 'api/authors': authors, 'api/articles': articles, 'api/tags': tags }
}
