/**
 * What the options and the methods of a `CrudHandler` accept and refuse if it has the type of a record: see
 * `helpers/types.ts`.
 */
import { CrudClient, type Many } from '../../lib/client/index.ts'
import {
	type CrudFieldLimits,
	CrudHandler,
	type CrudNamedOptions,
	type CrudOperation,
	type CrudOptions,
	type CrudOptionsOf,
	type CrudScope,
	createServer,
	MemoryModel,
	transaction,
} from '../../lib/index.ts'
import { type Same, same } from '../helpers/same.ts'
import { types } from '../helpers/types.ts'

interface Db {
	article: {
		id: number
		title: string
		state: 'draft' | 'public'
		author_id: number | null
		revision: number
		serial: string
		about: unknown
		big: boolean
		changed: string
		deleted: string | null
		slug?: string
	}
	author: { id: number; name: string }
}
type Article = Db['article']
type Author = Db['author']

const model = new MemoryModel('article', { key: 'id', fields: { id: 'integer' } })
const authors = new CrudHandler<Db['author']>(model, { visible: 'all' })

/** Articles with all fields visible, and more options. */
function articles(more: Omit<CrudOptionsOf<Article>, 'visible'>): CrudHandler<Article> {
	return new CrudHandler<Article>(model, { visible: 'all', ...more })
}

types('crud: names in options', (say) => {
	say('the fields of the records are names, and nothing else is', () => {
		const good = new CrudHandler<Article>(model, {
			visible: ['id', 'title', 'slug'],
			updatable: ['title', 'about'],
			creatable: ['title', 'deleted'],
			filterable: ['state', 'big'],
			sortable: [],
			sort: ['-state', 'slug'],
			allow: ['list', 'read'],
			limit: 5,
			maxPageBytes: 1_000,
			ignoreQuery: ['utm_source'],
			databaseMessages: undefined,
		})
		const bad = [
			// @ts-expect-error: there is no such field
			() => new CrudHandler<Article>(model, { visible: ['id', 'titel'] }),
			// @ts-expect-error: nor a word for all
			() => new CrudHandler<Article>(model, { visible: 'every' }),
			// @ts-expect-error: it is required, as without a type
			() => new CrudHandler<Article>(model, { updatable: ['title'] }),
			// @ts-expect-error: there is no such field
			() => articles({ updatable: ['titel'] }),
			// @ts-expect-error: there is no such field
			() => articles({ creatable: ['titel'] }),
			// @ts-expect-error: there is no such field
			() => articles({ filterable: ['titel'] }),
			// @ts-expect-error: there is no such field
			() => articles({ sortable: ['-title'] }),
			// @ts-expect-error: there is no such field
			() => articles({ sort: ['-titel'] }),
			// @ts-expect-error: there is no such option
			() => articles({ updateable: ['title'] }),
		]
		return [good, bad]
	})

	say('searchable fields have text', () => {
		const good = articles({ searchable: ['title', 'state', 'deleted', 'slug'] })
		const bad = [
			// @ts-expect-error: there is no such field
			() => articles({ searchable: ['titel'] }),
			// @ts-expect-error: a number
			() => articles({ searchable: ['id'] }),
			// @ts-expect-error: of any type
			() => articles({ searchable: ['about'] }),
		]
		return [good, bad]
	})

	say('rules and new names are of fields', () => {
		const good = [
			articles({
				rules: { title: ['required', { min: 3 }] },
				columns: { author_id: 'author', title: 'name' },
			}),
			articles({ rules: {}, columns: 'camelCase' }),
		]
		const bad = [
			// @ts-expect-error: there is no such field
			() => articles({ rules: { titel: ['required'] } }),
			// @ts-expect-error: there is no such rule
			() => articles({ rules: { title: ['needed'] } }),
			// @ts-expect-error: there is no such field
			() => articles({ columns: { authorId: 'author_id' } }),
			// @ts-expect-error: it isn't the name of a column
			() => articles({ columns: { author_id: 5 } }),
			// @ts-expect-error: there is no such way to convert names
			() => articles({ columns: 'snake_case' }),
		]
		return [good, bad]
	})

	say('what the handler sets itself has a fitting value', () => {
		const good = [
			articles({ version: 'revision', touch: 'changed', softDelete: 'deleted' }),
			articles({ version: 'serial', touch: 'deleted' }),
		]
		const bad = [
			// @ts-expect-error: there is no such field
			() => articles({ version: 'revisions' }),
			// @ts-expect-error: it may be null
			() => articles({ version: 'author_id' }),
			// @ts-expect-error: it isn't a number
			() => articles({ version: 'big' }),
			// @ts-expect-error: it isn't a time
			() => articles({ touch: 'id' }),
			// @ts-expect-error: it is never null
			() => articles({ softDelete: 'changed' }),
			// @ts-expect-error: it isn't a time
			() => articles({ softDelete: 'author_id' }),
		]
		return [good, bad]
	})

	say('lists of fields within options have names of fields', () => {
		const good = [
			articles({ upsertOn: ['slug', ['title', 'state']] }),
			articles({ audit: model }),
			articles({ audit: { to: model, fields: ['title', 'deleted'] } }),
			articles({ totals: { by: ['state', 'author.name'], of: ['revision'], maxGroups: 5 } }),
		]
		const bad = [
			// @ts-expect-error: there is no such field
			() => articles({ upsertOn: ['slugs'] }),
			// @ts-expect-error: there is no such field among several
			() => articles({ upsertOn: [['title', 'states']] }),
			// @ts-expect-error: there is no such field
			() => articles({ audit: { to: model, fields: ['titel'] } }),
			// @ts-expect-error: neither a field nor one of related records
			() => articles({ totals: { by: ['states'] } }),
			// @ts-expect-error: there is no such field
			() => articles({ totals: { of: ['revisions'] } }),
			// @ts-expect-error: only fields of the records themselves are added up
			() => articles({ totals: { of: ['author.id'] } }),
		]
		return [good, bad]
	})

	say('relations may lead to any handler, by fields of either side', () => [
		articles({
			relations: {
				author: { to: authors, by: 'author_id' },
				children: { to: (): CrudHandler<Article> => articles({}), by: ['parent_id'], many: true },
			},
		}),
		// @ts-expect-error: there is no such setting
		() => articles({ relations: { author: { to: authors, on: 'author_id' } } }),
	])
})

types('crud: names in options, without the type of a record', (say) => {
	say('any names compile', () => {
		const names: string[] = ['a']
		const options: CrudOptions = { visible: names, columns: { b: 'c' }, version: 'd' }
		same<Same<CrudOptionsOf<Record<string, unknown>>, CrudOptions>>()
		same<Same<CrudOptionsOf<object>, CrudOptions>>()
		same<Same<ConstructorParameters<typeof CrudHandler>[1], CrudOptions>>()
		const handler = new CrudHandler(model, {
			...{ visible: ['a'], searchable: ['b'], rules: { c: ['required'] }, columns: { d: 'e' } },
			...{ version: 'f', softDelete: 'g', totals: { by: ['h'], of: ['i'] }, upsertOn: [['j']] },
		})
		same<Same<typeof handler, CrudHandler>>()
		return [handler, new CrudHandler(model, options), new CrudHandler(model, { visible: names })]
	})

	say('names that may be any text are no names of fields', () => {
		const names: string[] = ['a']
		const options: CrudOptions = { visible: names }
		return [
			// @ts-expect-error: which names they are is unknown
			() => new CrudHandler<Article>(model, { visible: names }),
			// @ts-expect-error: which names are in them is unknown
			() => new CrudHandler<Article>(model, options),
		]
	})
})

types('crud: names in overridden methods', (say) => {
	say('a scope has names and values of fields, where its type is written', () => {
		class Good extends CrudHandler<Article> {
			override scope(operation: CrudOperation): CrudScope<Article> {
				if (operation === 'list') return { state: ['public', 'draft'], author_id: null }
				if (operation === 'read') return { or: [{ slug: 'a' }, { not: { changed: { lt: new Date(0) } } }] }
				return {}
			}
		}
		class Later extends CrudHandler<Article> {
			override async scope(): Promise<CrudScope<Article, { author: Author; comments: Many<Author> }>> {
				return { state: 'public', author: { name: 'Ada' }, comments: { none: { id: 5 } }, 'author.id': 7 }
			}
		}
		const bad: CrudScope<Article>[] = [
			// @ts-expect-error: there is no such field
			{ staet: 'public' },
			// @ts-expect-error: nor beside one that there is
			{ author_id: 5, staet: 'public' },
			// @ts-expect-error: nor in one of several conditions
			{ or: [{ author_id: 5 }, { staet: 'public' }] },
			// @ts-expect-error: there is no such value
			{ state: 'publik' },
			// @ts-expect-error: its relations aren't in the type
			{ author: { name: 'Ada' } },
		]
		const astray: CrudScope<Article, { author: Author }> = {
			// @ts-expect-error: the related records have no such field
			author: { nmae: 'Ada' },
		}
		return [new Good(model, { visible: ['id'] }), new Later(model, { visible: ['id'] }), bad, astray]
	})

	say('so have the limits of a request', () => {
		class Good extends CrudHandler<Article> {
			override fields(): CrudFieldLimits<Article> {
				return this.can('staff') ? {} : { hidden: ['slug'], readOnly: ['state'] }
			}
		}
		const bad: CrudFieldLimits<Article>[] = [
			// @ts-expect-error: there is no such field
			{ hidden: ['slugs'] },
			// @ts-expect-error: there is no such field
			{ readOnly: ['slug', 'states'] },
			// @ts-expect-error: there are no such limits
			{ readonly: ['slug'] },
		]
		return [new Good(model, { visible: ['id'] }), bad]
	})

	say('what is needed is a field', () => {
		class Needy extends CrudHandler<Article> {
			override async read(id: string) {
				this.needs('slug', 'state')
				// @ts-expect-error: there is no such field
				this.needs('slug', 'states')
				return super.read(id)
			}
		}
		class Open<T extends { state: string }> extends CrudHandler<T> {
			override scope() {
				this.needs('state')
				return { state: 'public' }
			}
		}
		return [Needy, Open]
	})

	say('without types, any names compile, also of relations', () => {
		class Inferred extends CrudHandler<Article> {
			override scope(operation: CrudOperation) {
				return operation === 'list' ? { 'author.name': 'Ada' } : { comments: { none: { spam: true } } }
			}
			override fields() {
				return this.can('staff') ? {} : { hidden: ['a'], readOnly: ['b'] }
			}
		}
		class Any extends CrudHandler {
			override scope(): CrudScope {
				this.needs('a', ...['b'])
				return { c: 5 }
			}
			override fields(): CrudFieldLimits {
				return { hidden: ['d'] }
			}
		}
		same<Same<CrudScope, Readonly<Record<string, unknown>>>>()
		return [new Inferred(model, { visible: ['id'] }), new Any(model, { visible: ['x'] })]
	})
})

types('crud: handlers with the type of a record', (say) => {
	say('they are handlers like others', () => {
		const some: CrudHandler = articles({})
		const all: CrudHandler[] = [some, authors, new CrudHandler(model, { visible: ['x'] })]
		const typed: CrudHandler<Article> = new CrudHandler(model, { visible: ['id'] })
		// @ts-expect-error: the type of the variable has the names
		const wrong: CrudHandler<Article> = new CrudHandler(model, { visible: ['x'] })
		const other: CrudHandler<Article> = some
		void transaction([typed, authors], async () => {})
		return [createServer({ article: typed, author: authors }), all, wrong, other]
	})

	say('their options are plain options too', () => {
		const options: CrudOptionsOf<Article> = { visible: ['id'], rules: { title: ['required'] }, columns: {} }
		const named: CrudNamedOptions<Article> = options
		const plain: CrudOptions = options
		return [new CrudHandler(model, options), new CrudHandler<Article>(model, named), plain]
	})

	say('subclasses have the type, pass it on, or have none', () => {
		class Articles extends CrudHandler<Article> {
			override scope() {
				return { state: 'public' }
			}
		}
		class Some<T extends object> extends CrudHandler<T> {
			constructor(options: CrudOptionsOf<T>) {
				super(model, options)
			}
		}
		class Any extends CrudHandler {
			override async read(id: string) {
				return (await super.read(id)).value<Article>()
			}
		}
		class Own extends CrudHandler {
			constructor(of: typeof model, options: CrudOptions) {
				super(of, { ...options, visible: ['x'] })
			}
		}
		const classes: (typeof CrudHandler)[] = [CrudHandler, Any, Own]
		const made: CrudHandler[] = [
			new Articles(model, { visible: ['id'] }),
			new Some<Article>({ visible: ['id'] }),
			...classes.map((Class) => new Class(model, { visible: ['x'] })),
		]
		const bad = [
			// @ts-expect-error: there is no such field
			() => new Articles(model, { visible: ['x'] }),
			// @ts-expect-error: there is no such field
			() => new Some<Article>({ visible: ['x'] }),
		]
		return [made, bad]
	})

	say('a client has records of the same type', async () => {
		const client = new CrudClient<Article, { author: Db['author'] }>('article', '/blog')
		const { data } = await client.list({ where: { title: 'x' }, sort: '-author.name' })
		same<Same<(typeof data)[number], Article>>()
		// @ts-expect-error: there is no such field
		void client.list({ where: { titel: 'x' } })
	})
})
