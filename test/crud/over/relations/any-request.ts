/** Records and requests for fast-check, over the handlers of `handlers.ts`: most of them valid. */
import fc from 'fast-check'
import { anyBatch } from './any-batch.ts'
import type { Row, Rows } from './stores.ts'

const RELATIONS: Readonly<
	Record<string, Readonly<Record<string, { readonly to: string; readonly isMany: boolean }>>>
> = {
	people: {
		articles: { to: 'articles', isMany: true },
		edited: { to: 'articles', isMany: true },
		remarks: { to: 'remarks', isMany: true },
		comments: { to: 'comments', isMany: true },
	},
	profiles: {},
	articles: {
		author: { to: 'people', isMany: false },
		editor: { to: 'people', isMany: false },
		profile: { to: 'profiles', isMany: false },
		parent: { to: 'articles', isMany: false },
		children: { to: 'articles', isMany: true },
		comments: { to: 'comments', isMany: true },
		opinions: { to: 'opinions', isMany: true },
		tags: { to: 'tags', isMany: true },
	},
	comments: { article: { to: 'articles', isMany: false }, author: { to: 'people', isMany: false } },
	remarks: { article: { to: 'articles', isMany: false }, author: { to: 'people', isMany: false } },
	opinions: { author: { to: 'people', isMany: false } },
	tags: { articles: { to: 'articles', isMany: true } },
	ties: { article: { to: 'articles', isMany: false }, tag: { to: 'tags', isMany: false } },
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
	people: ['id', 'name'],
	profiles: ['id', 'name'],
	articles: ['id', 'title', 'authorId', 'editorId', 'parentId', 'score', 'price', 'day', 'done'],
	comments: ['articleId', 'n', 'authorId', 'text', 'score'],
	remarks: ['articleId', 'n', 'authorId', 'text', 'score'],
	opinions: ['text', 'score'],
	tags: ['id', 'word', 'price'],
	ties: ['articleId', 'tagId', 'note'],
}

const word = fc.constantFrom('Ada', 'ada', 'Bob', '', 'ö x', "it's", '%', '"q"')
const small = fc.integer({ min: 1, max: 6 })
/** SQLite compares them as texts. */
const price = fc.constantFrom('1.50', '2.00', '3.25', '9.99')
const day = fc.constantFrom('2026-11-20', '2026-11-21', '2025-01-01')
const orNull = <T>(one: fc.Arbitrary<T>) => fc.option(one, { freq: 4 })

function valueFor(name: string): fc.Arbitrary<string | number | boolean> {
	if (name === 'price') return price
	if (name === 'day') return day
	if (name === 'done') return fc.boolean()
	return /^(?:id|n|score|.*Id)$/.test(name) ? small : word
}

function numbered(maxLength: number, make: (id: number) => fc.Arbitrary<Row>): fc.Arbitrary<readonly Row[]> {
	return fc
		.integer({ min: 1, max: maxLength })
		.chain((count) => fc.tuple(...Array.from({ length: count }, (_, at) => make(at + 1))))
}

function distinct(rows: readonly Row[], ...key: readonly string[]): readonly Row[] {
	return [...new Map(rows.map((row) => [key.map((name) => row[name]).join(), row])).values()]
}

/** Few people, articles, comments and tags, with references between them. */
export const anyRows: fc.Arbitrary<Rows> = fc
	.record({
		person: numbered(5, (id) =>
			fc.record({
				id: fc.constant(id),
				name: orNull(word),
				team: fc.constantFrom('red', 'blue'),
				secret: word,
			}),
		),
		tag: numbered(4, (id) => fc.record({ id: fc.constant(id), word: orNull(word), price: orNull(price) })),
	})
	.chain(({ person, tag }) => {
		const one = (rows: readonly unknown[]) => fc.integer({ min: 1, max: rows.length })
		return numbered(6, (id) =>
			fc.record({
				...{ id: fc.constant(id), title: word, author_id: one(person), editor_id: orNull(one(person)) },
				parent_id: id === 1 ? fc.constant(null) : orNull(fc.integer({ min: 1, max: id - 1 })),
				...{ score: orNull(small), price: orNull(price), day: orNull(day), done: orNull(fc.boolean()) },
			}),
		).chain((article) =>
			fc.record({
				person: fc.constant(person),
				article: fc.constant(article),
				comment: fc
					.array(
						fc.record({
							...{ article_id: one(article), n: small, author_id: orNull(one(person)) },
							...{ text: orNull(word), score: orNull(small), hidden: fc.boolean() },
						}),
						{ maxLength: 14 },
					)
					.map((rows) => distinct(rows, 'article_id', 'n')),
				tag: fc.constant(tag),
				tie: fc
					.array(fc.record({ article_id: one(article), tag_id: one(tag), note: orNull(word) }), {
						maxLength: 10,
					})
					.map((rows) => distinct(rows, 'article_id', 'tag_id')),
			}),
		)
	})

/** What is asked of records, as in the full JSON of `include`. */
export interface Settings {
	readonly limit?: number
	readonly sort?: string
	readonly fields?: readonly string[]
	readonly filter?: unknown
	readonly count?: string | number
	readonly include?: Readonly<Record<string, true | Settings>>
}

export interface Step {
	readonly method: string
	/** The handler whose records the response has. */
	readonly of: string
	readonly path: string
	readonly headers: Readonly<Record<string, string>>
	readonly query: string
	/** What `query` asks for, if it is written in full: embedded lists are then compared with lists of their own. */
	readonly settings: Settings | undefined
	readonly body: unknown
	/** Whether `meta.next` is followed. */
	readonly follows: boolean
}

const relationsOf = (of: string) => Object.entries(RELATIONS[of] ?? {})

function oneOf<T>(...some: readonly (fc.Arbitrary<T> | undefined)[]): fc.Arbitrary<T> {
	return fc.oneof(...some.filter((one) => one !== undefined))
}

const fieldOf = (of: string) => fc.constantFrom(...(FIELDS[of] ?? []))

/** A relation to a handler that overrides `list`: no filter or sort leads through it. */
const UNJOINED = 'remarks'

/** A field, or one behind relations: `author.name`. */
function pathOf(of: string, depth: number, onlyToOne: boolean): fc.Arbitrary<string> {
	const relations = relationsOf(of).filter(
		([name, { isMany }]) => !(onlyToOne && isMany) && name !== UNJOINED,
	)
	if (depth === 0 || relations.length === 0) return fieldOf(of)
	const behind = fc
		.constantFrom(...relations)
		.chain(([name, { to }]) => pathOf(to, depth - 1, onlyToOne).map((rest) => `${name}.${rest}`))
	return fc.oneof({ weight: 2, arbitrary: fieldOf(of) }, { weight: 2, arbitrary: behind })
}

/** An operator with its operand, as in the JSON of a filter. */
function operand(path: string): fc.Arbitrary<unknown> {
	const name = path.slice(path.lastIndexOf('.') + 1)
	const value = valueFor(name)
	const texts = /^(?:name|title|text|word|note)$/.test(name)
	return oneOf<unknown>(
		value,
		fc.array(value, { minLength: 1, maxLength: 3 }),
		name === 'done' ? undefined : fc.tuple(fc.constantFrom('gt', 'gte', 'lt', 'lte'), value).map(pair),
		value.map((one) => ({ ne: one })),
		fc.boolean().map((isNull) => ({ null: isNull })),
		texts ? fc.tuple(fc.constantFrom('contains', 'startsWith'), word).map(pair) : undefined,
	)
}

function pair([name, value]: readonly [string, unknown]): Readonly<Record<string, unknown>> {
	return { [name]: value }
}

const counted = fc.oneof(
	fc.integer({ min: 0, max: 3 }),
	fc.tuple(fc.constantFrom('gt', 'gte', 'lt', 'lte', 'ne'), fc.integer({ min: 0, max: 3 })).map(pair),
)

function filterOf(of: string, depth: number): fc.Arbitrary<Readonly<Record<string, unknown>>> {
	const compared = pathOf(of, Math.min(depth, 1), false).chain((path) =>
		operand(path).map((value) => ({ [path]: value })),
	)
	const relations = relationsOf(of).filter(([name]) => name !== UNJOINED)
	if (depth === 0 || relations.length === 0) return compared
	const related = fc.constantFrom(...relations).chain(([name, { to, isMany }]) => {
		const inner = filterOf(to, depth - 1)
		const given: fc.Arbitrary<unknown> = isMany
			? fc.oneof(
					fc.tuple(fc.constantFrom('some', 'none', 'every'), inner).map(pair),
					counted.map((count) => ({ count })),
				)
			: fc.option(inner, { freq: 5 })
		return given.map((value) => ({ [name]: value }))
	})
	const both = fc.array(fc.oneof(compared, related), { minLength: 1, maxLength: 2 })
	return fc.oneof(
		{ weight: 3, arbitrary: compared },
		{ weight: 4, arbitrary: related },
		{ weight: 1, arbitrary: both.map((terms) => ({ or: terms })) },
		{ weight: 1, arbitrary: both.map((terms) => ({ and: terms })) },
		{ weight: 1, arbitrary: fc.oneof(compared, related).map((term) => ({ not: term })) },
	)
}

function sortOf(of: string): fc.Arbitrary<string> {
	const term = fc.tuple(fc.boolean(), pathOf(of, 2, true)).map(([down, path]) => (down ? `-${path}` : path))
	return fc.uniqueArray(term, { minLength: 1, maxLength: 2 }).map((terms) => terms.join())
}

function includeOf(of: string, depth: number): fc.Arbitrary<Readonly<Record<string, true | Settings>>> {
	const relations = relationsOf(of)
	const one = fc.constantFrom(...relations).chain(([name, { to, isMany }]) => {
		const full: fc.Arbitrary<Settings> = isMany ? settingsOf(to, depth - 1) : ofOne(to, depth - 1)
		return fc.oneof(fc.constant(true as const), full).map((settings) => [name, settings] as const)
	})
	return fc
		.uniqueArray(one, { minLength: 1, maxLength: 3, selector: ([name]) => name })
		.map((entries) => Object.fromEntries(entries))
}

const fieldsOf = (of: string) => fc.uniqueArray(fieldOf(of), { minLength: 1, maxLength: 3 })
const countOf = fc.constantFrom<string | number>('exact', 'exact', 1, 2)

function ofOne(of: string, depth: number): fc.Arbitrary<Settings> {
	const isLast = depth === 0 || relationsOf(of).length === 0
	return fc.record(
		{
			fields: fieldsOf(of),
			...(isLast ? {} : { include: includeOf(of, depth) }),
		},
		{ requiredKeys: [] },
	)
}

function settingsOf(of: string, depth: number): fc.Arbitrary<Settings> {
	const isLast = depth === 0 || relationsOf(of).length === 0
	return fc.record(
		{
			limit: fc.constantFrom(0, 1, 1, 2, 3, 9),
			sort: sortOf(of),
			fields: fieldsOf(of),
			filter: filterOf(of, 1),
			count: countOf,
			...(isLast ? {} : { include: includeOf(of, depth) }),
		},
		{ requiredKeys: [] },
	)
}

/** A query as parameters of a URL. */
export function queryOf(settings: Settings): string {
	const pairs = Object.entries(settings).map(([name, value]) => {
		const isJson = name === 'filter' || name === 'include'
		return `${name}=${encodeURIComponent(isJson ? JSON.stringify(value) : String(value))}`
	})
	return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function relationPath(of: string, depth: number): fc.Arbitrary<string> {
	return fc.constantFrom(...relationsOf(of)).chain(([name, { to }]) => {
		if (depth <= 1 || relationsOf(to).length === 0) return fc.constant(name)
		return fc.option(relationPath(to, depth - 1)).map((rest) => (rest === null ? name : `${name}.${rest}`))
	})
}

/** Queries in their short forms: dotted names in `fields`, `include` and comparisons. */
function shortQuery(of: string): fc.Arbitrary<string> {
	const comparison = pathOf(of, 2, false).chain((path) =>
		operand(path).map((given) => {
			if (typeof given !== 'object' || given === null) return [path, String(given)]
			if (Array.isArray(given)) return [`${path}[in]`, given.join()]
			const [[op, value] = []] = Object.entries(given)
			return [`${path}[${op}]`, String(value)]
		}),
	)
	const names = (one: fc.Arbitrary<string>) =>
		fc.uniqueArray(one, { minLength: 1, maxLength: 3 }).map((all) => all.join())
	const setting = oneOf<string[]>(
		comparison,
		comparison,
		relationsOf(of).length === 0 ? undefined : names(relationPath(of, 3)).map((value) => ['include', value]),
		names(pathOf(of, 2, false)).map((value) => ['fields', value]),
		sortOf(of).map((value) => ['sort', value]),
		fc.constantFrom('0', '1', '2', '5', 'x').map((value) => ['limit', value]),
		countOf.map((value) => ['count', String(value)]),
		fc
			.constantFrom('include=nobody', 'fields=author.secret', 'sort=comments.n', 'author.team=red')
			.map((one) => one.split('=')),
	)
	return fc
		.uniqueArray(setting, { maxLength: 4, selector: ([name]) => name })
		.map((all) => all.map(([name = '', value = '']) => `${name}=${encodeURIComponent(value)}`).join('&'))
		.map((text) => (text === '' ? '' : `?${text}`))
}

interface Query {
	readonly query: string
	readonly settings: Settings | undefined
}

function anyQuery(of: string): fc.Arbitrary<Query> {
	return fc.oneof(
		fc
			.constantFrom(1, 2, 2, 3)
			.chain((depth) => settingsOf(of, depth))
			.map((settings) => ({ query: queryOf(settings), settings })),
		shortQuery(of).map((query) => ({ query, settings: undefined })),
	)
}

function recordQuery(of: string): fc.Arbitrary<Query> {
	return ofOne(of, 3).map((settings) => ({ query: queryOf(settings), settings }))
}

const headers = fc
	.record(
		{
			'x-team': fc.constantFrom('red', 'blue', 'none'),
			'x-all': fc.constant('1'),
			'x-done': fc.constantFrom('1', 'or by the team'),
			'x-words': fc.constantFrom('Ada', 'Ada,Bob'),
			'x-nameless': fc.constantFrom(undefined, undefined, '1'),
		},
		{ requiredKeys: [] },
	)
	.map((sent) =>
		Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)),
	) as fc.Arbitrary<Record<string, string>>

/** Mostly of records that are there. */
const number = fc.constantFrom(1, 1, 1, 2, 2, 3, 4, 9)
const ID: Readonly<Record<string, fc.Arbitrary<string>>> = {
	comments: fc.tuple(number, number).map((ids) => ids.join()),
	ties: fc.tuple(number, number).map((ids) => ids.join()),
}
const idOf = (of: string) => ID[of] ?? number.map(String)
const NAMES = ['people', 'articles', 'articles', 'articles', 'comments', 'opinions', 'tags', 'ties']
const WITH_ID = NAMES.filter((name) => name !== 'opinions')

const nothing: Query = { query: '', settings: undefined }

function step(
	method: string,
	of: string,
	path: fc.Arbitrary<string>,
	query: fc.Arbitrary<Query>,
	body: fc.Arbitrary<unknown> = fc.constant(undefined),
): fc.Arbitrary<Step> {
	return fc.tuple(path, query, body, headers, fc.boolean()).map(([where, asked, sent, own, follows]) => ({
		...{ method, of, path: where, ...asked, body: sent, headers: own },
		follows: follows && method === 'GET',
	}))
}

const comment = fc.record(
	{ n: fc.integer({ min: 1, max: 9 }), text: word, authorId: fc.constantFrom(1, null), score: small },
	{ requiredKeys: ['n'] },
)
const change = fc.record(
	{ title: word, editorId: fc.constantFrom(1, null), score: orNull(small) },
	{ requiredKeys: [] },
)

const list = fc.constantFrom(...NAMES).chain((of) => step('GET', of, fc.constant(`/${of}`), anyQuery(of)))
const record = fc.constantFrom(...WITH_ID).chain((of) =>
	step(
		'GET',
		of,
		idOf(of).map((id) => `/${of}/${id}`),
		recordQuery(of),
	),
)
const nested = fc
	.constantFrom(...WITH_ID)
	.chain((of) => fc.constantFrom(...relationsOf(of)).map((relation) => [of, relation] as const))
	.chain(([of, [name, { to, isMany }]]) =>
		step(
			'GET',
			to,
			idOf(of).map((id) => `/${of}/${id}/${name}`),
			isMany ? anyQuery(to) : recordQuery(to),
		),
	)
const TOTALED: Readonly<Record<string, { readonly by: readonly string[]; readonly of: readonly string[] }>> =
	{
		articles: {
			by: [
				'title',
				'score',
				'day:month',
				'done',
				'author.name',
				'editor.name',
				'profile.name',
				'parent.author.name',
			],
			of: ['score', 'price'],
		},
		comments: { by: ['n', 'author.name', 'article.title', 'article.editor.name'], of: ['score', 'n'] },
	}

/** Totals, also by fields of related records, and of records that are found by them. */
function totalsQuery(of: string): fc.Arbitrary<Query> {
	const { by = [], of: fields = [] } = TOTALED[of] ?? {}
	const some = (names: readonly string[]) =>
		fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 2 }).map((all) => all.join())
	return fc
		.record(
			{
				by: some(by),
				...{ sum: some(fields), avg: some(fields), min: some(fields), max: some(fields) },
				sort: fc.constantFrom('-count', 'count'),
				having: fc.constantFrom('{"count":{"gt":1}}', '{"not":{"count":1}}'),
				limit: fc.constantFrom(1, 2),
				filter: filterOf(of, 2).map((filter) => JSON.stringify(filter)),
			},
			{ requiredKeys: ['by'] },
		)
		.map((parameters) => {
			const pairs = Object.entries({ ...parameters, count: 'exact' })
			const texts = pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
			return { query: `?${texts.join('&')}`, settings: undefined }
		})
}

const totals = fc
	.constantFrom(...Object.keys(TOTALED))
	.chain((of) => step('GET', of, fc.constant(`/${of}/totals`), totalsQuery(of)))
const asked = step(
	'QUERY',
	'articles',
	fc.constant('/articles'),
	fc.constant(nothing),
	settingsOf('articles', 3),
)
const write = fc.oneof(
	step(
		'POST',
		'comments',
		number.map((id) => `/articles/${id}/comments`),
		recordQuery('comments'),
		comment,
	),
	fc.constantFrom('PUT', 'DELETE').chain((method) =>
		step(
			method,
			'tags',
			fc.tuple(number, number).map(([id, tag]) => `/articles/${id}/tags/${tag}`),
			fc.constant(nothing),
		),
	),
	step(
		'PATCH',
		'articles',
		number.map((id) => `/articles/${id}`),
		recordQuery('articles'),
		change,
	),
	step(
		'DELETE',
		'comments',
		idOf('comments').map((id) => `/comments/${id}`),
		recordQuery('comments'),
	),
)

/** Transactions, whose lists are what the query asks for. */
const batch = fc
	.constantFrom('articles', 'comments')
	.chain((of) => step('POST', of, fc.constant(`/${of}/batch`), anyQuery(of), anyBatch))

const read = fc.oneof(
	{ weight: 5, arbitrary: list },
	{ weight: 2, arbitrary: record },
	{ weight: 3, arbitrary: nested },
	{ weight: 1, arbitrary: asked },
	{ weight: 3, arbitrary: totals },
)

export const anyReads: fc.Arbitrary<readonly Step[]> = fc.array(read, { minLength: 1, maxLength: 6 })

export const anySteps: fc.Arbitrary<readonly Step[]> = fc.array(
	fc.oneof({ weight: 11, arbitrary: read }, { weight: 2, arbitrary: write }, { weight: 2, arbitrary: batch }),
	{ minLength: 1, maxLength: 6 },
)

/** The relations to many records of a handler. */
export function manyOf(of: string): readonly string[] {
	return relationsOf(of).flatMap(([name, { isMany }]) => (isMany ? [name] : []))
}
