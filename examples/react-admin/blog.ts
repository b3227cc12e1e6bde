/** Authors and their articles, in memory, as an API for the administration. */
import { CrudHandler, type Handlers, MemoryModel } from '../../lib/index.ts' // you write 'verbena'

const NAMES = ['Ada Mint', 'Basil Thorne', 'Clary Wort', 'Dill Weed'] as const
const PLANTS = ['Lemon verbena', 'Thyme', 'Sage', 'Hyssop', 'Lovage', 'Sweet cicely', 'Borage', 'Chervil']
const SUBJECTS = ['through the winter', 'from cuttings', 'in a pot', 'for tea', 'and its neighbours']
const FIRST_DAY = Date.UTC(2026, 0, 5, 9)
const DAY = 86_400_000

/** The handlers by their paths: react-admin's resource `articles` is what stands at `api/articles`. */
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
			author: 'integer',
			created: { type: 'timestamp', default: () => new Date() },
			version: { type: 'integer', default: 1 },
		},
		key: 'id',
		references: [{ field: 'author', model: authors }],
		rows: PLANTS.flatMap((plant) => SUBJECTS.map((subject) => `${plant} ${subject}`)).map((title, at) => ({
			title,
			body: `What we have learned about ${title.toLowerCase()} in three years.`,
			status: at % 4 === 3 ? 'draft' : 'published',
			author: 1 + (at % NAMES.length),
			created: new Date(FIRST_DAY + at * 3 * DAY),
		})),
	})
	const allow = ['list', 'read', 'create', 'update', 'remove'] as const
	return {
		'api/authors': new CrudHandler(authors, {
			...{
				visible: 'all',
				updatable: ['name', 'email'],
				searchable: ['name', 'email'],
				allow,
				version: 'version',
			},
			rules: { name: ['required', 'string', { min: 1 }], email: ['required', 'email'] },
		}),
		'api/articles': new CrudHandler(articles, {
			...{ visible: 'all', updatable: ['title', 'body', 'status', 'author'], allow, version: 'version' },
			searchable: ['title', 'body'],
			rules: { title: ['required', 'string', { min: 3 }] },
		}),
	}
}
