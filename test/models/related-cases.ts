/**
 * Related records within records, on any SQL database: what `list` and `read` embed is compared with what `list` of the
 * related models gives for each record.
 */
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Condition, Link, Model, Order, Related, Selection } from '../../lib/models/model.ts'
import { ModelError } from '../../lib/models/model-error.ts'

export type Models = Readonly<Record<'author' | 'article' | 'comment' | 'tag' | 'tagging', Model>>

/** Makes the tables, named `<prefix>article` and so on; `time` is the database's type of timestamps. */
export function tablesOf(prefix: string, time: string): string {
	const name = (table: string) => `${prefix}${table}`
	const comments = Array.from({ length: 12 }, (_, at) => {
		const stars = at % 3 === 0 ? 'null' : String(at % 5)
		const created = `'2026-11-20 13:45:0${at % 4}.123'`
		return `(${at + 1}, ${[1, 1, 2, 1, 1, 3, 1][at % 7]}, ${1 + (at % 3)}, 'it''s "${at}"', ${stars}, ${created})`
	})
	return `
		create table ${name('author')} (id int primary key, name varchar(99) not null, boss_id int);
		create table ${name('article')} (id int primary key, author_id int, lang varchar(9) not null, title varchar(99));
		create table ${name('comment')} (id int primary key, article_id int not null, author_id int,
			text varchar(99) not null, stars int, created ${time} not null);
		create table ${name('tag')} (id int primary key, name varchar(99) not null, lang varchar(9) not null);
		create table ${name('tagging')} (article_id int not null, tag_id int not null, at int not null,
			primary key (article_id, tag_id, at));
		insert into ${name('author')} values (1, 'Ada', null), (2, 'Bob', 1), (3, 'Ada', 2);
		insert into ${name('article')} values (1, 3, 'en', 'One'), (2, null, 'de', null), (3, 2, 'en', 'Three'), (4, 9, 'fr', 'Four');
		insert into ${name('comment')} values ${comments.join(', ')};
		insert into ${name('tag')} values (1, 'x', 'en'), (2, 'a', 'de'), (3, 'm', 'en'), (4, 'b', 'en');
		insert into ${name('tagging')} values (1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 4, 1), (1, 4, 2), (1, 3, 1), (2, 2, 1);`
}

export function selectionOf(fields: string, ...related: Related[]): Selection {
	const names = fields === '' ? [] : fields.split(' ')
	return { fields: names, names, version: undefined, related }
}

/** `id`, `-stars,id`. */
export function orderOf(terms: string): Order[] {
	return terms.split(',').map((term) => ({ field: term.replace('-', ''), descending: term.startsWith('-') }))
}

export function toOne(
	name: string,
	model: Model,
	by: string,
	selection: Selection,
	where?: Condition,
	to = 'id',
): Related {
	return { name, link: { model, fields: [by], to: [to], isMany: false }, selection, where }
}

export function toMany(
	name: string,
	link: Omit<Link, 'isMany'>,
	selection: Selection,
	{
		order = 'id',
		limit = 2,
		...others
	}: { order?: string; limit?: number; count?: number; where?: Condition } = {},
): Related {
	const { count, where } = others
	const cursor = (next: string) => `"${name}" after ${next}`
	const list = { order: orderOf(order), limit, count, cursor }
	return { name, link: { ...link, isMany: true }, selection, where, list }
}

/** Called with each test's models. */
export type WithModels = (promise: string, work: (models: Models) => Promise<void>) => void

export function relatedCases(withModels: WithModels): void {
	const comments = ({ comment }: Models) => ({ model: comment, fields: ['id'], to: ['article_id'] })
	const tags = ({ tag, tagging }: Models) => ({
		...{ model: tag, fields: ['id'], to: ['id'] },
		through: { model: tagging, from: ['article_id'], on: ['tag_id'] },
	})
	const isGood: Condition = { op: 'gte', field: 'stars', value: 2 }
	const isFirst: Condition = { op: 'lt', field: 'id', value: 3 }

	withModels('to one: an object, or null', async (models) => {
		const { article, author } = models
		const selection = selectionOf('id', toOne('author', author, 'author_id', selectionOf('name id')))
		assert.is(
			await textOf(article, selection),
			'[{"id":1,"author":{"name":"Ada","id":3}},{"id":2,"author":null},{"id":3,"author":{"name":"Bob","id":2}},{"id":4,"author":null}]',
		)
	})

	withModels('to one: null where the condition on it is false', async (models) => {
		const { article, author } = models
		const isAda: Condition = { op: 'eq', field: 'name', value: 'Ada' }
		await agrees(
			article,
			selectionOf('id title', toOne('author', author, 'author_id', selectionOf('name'), isAda)),
		)
	})

	withModels('to one by a field that several have: the first by the key', async (models) => {
		const { article, tag } = models
		const selection = selectionOf('id', toOne('tag', tag, 'lang', selectionOf('name'), undefined, 'lang'))
		assert.is(
			await textOf(article, selection),
			'[{"id":1,"tag":{"name":"x"}},{"id":2,"tag":{"name":"a"}},{"id":3,"tag":{"name":"x"}},{"id":4,"tag":null}]',
		)
	})

	withModels('to many: the page of a list, with the cursor after it', async (models) => {
		const { article } = models
		const selection = selectionOf('id', toMany('comments', comments(models), selectionOf('id')))
		const all = await textOf(article, selection)
		assert.is(
			all.slice(0, all.indexOf(',{"id":2,"comments')),
			String.raw`[{"id":1,"comments":{"data":[{"id":1},{"id":2}],"meta":{"limit":2,"next":"\"comments\" after [2]"}}}`,
		)
		assert.ok(all.endsWith('{"id":4,"comments":{"data":[],"meta":{"limit":2,"next":null}}}]'), all)
	})

	for (const order of ['id', '-id', 'stars,id', '-stars,-id', 'created,-stars,id', 'text,id', '-created,id'])
		for (const limit of [0, 1, 3, 7, 100])
			withModels(`to many: ordered by ${order}, at most ${limit}`, async (models) => {
				const fields = selectionOf('stars created id text')
				const link = comments(models)
				await agrees(models.article, selectionOf('id', toMany('comments', link, fields, { order, limit })))
				const good = { order, limit, where: isGood }
				await agrees(models.article, selectionOf('', toMany('good', link, fields, good)))
			})

	for (const count of [0, 1, 2, 5, 6, 100, Number.POSITIVE_INFINITY])
		for (const limit of [0, 2, 50])
			withModels(`to many: counted up to ${count}, at most ${limit}`, async (models) => {
				const all = toMany('comments', comments(models), selectionOf('id'), { count, limit })
				const some = toMany('good', comments(models), selectionOf('id'), { count, limit, where: isGood })
				await agrees(models.article, selectionOf('id', all, some))
			})

	for (const descending of [false, true])
		withModels(`to many: ordered by a related field, ${descending ? 'down' : 'up'}`, async (models) => {
			const { author, article } = models
			const link = { model: author, fields: ['author_id'], to: ['id'], isMany: false }
			const via = [{ link, where: { op: 'ne', field: 'id', value: 2 } as const }]
			for (const limit of [1, 2, 4, 9]) {
				const by = toMany('comments', comments(models), selectionOf('id'), { limit, where: isGood, count: 3 })
				const order = [
					{ field: 'name', descending, via },
					{ field: 'id', descending: false },
				]
				await agrees(article, selectionOf('id', { ...by, list: { ...by.list, order } as Related['list'] }))
			}
		})

	withModels('in a page for each of several conditions', async (models) => {
		const { article, author } = models
		const by = toOne('author', author, 'author_id', selectionOf('name'), isFirst)
		const selection = selectionOf(
			'id',
			by,
			toMany('good', comments(models), selectionOf('id'), { where: isGood }),
		)
		const query = { ...{ selection, where: isFirst, order: orderOf('id'), total: true }, limit: 1, offset: 0 }
		const langs = ['en', 'de', 'fr'].map((value): Condition => ({ op: 'eq', field: 'lang', value }))
		const pages = await article.listEach?.({ ...query, after: undefined }, langs)
		const expected = await expectedOf(article, selection, isFirst)
		assert.equal(
			pages?.map(({ json }) => JSON.parse(json)),
			[[expected[0]], [expected[1]], []],
		)
	})

	withModels('many to many: each once, in the order of the list', async (models) => {
		const by = toMany('tags', tags(models), selectionOf('name'), { order: 'name,id', limit: 2, count: 9 })
		const all = JSON.parse(await textOf(models.article, selectionOf('id', by)))
		const next = `"tags" after ["m"${models.article.name.startsWith('pg') ? ', ' : ','}3]`
		const meta = { limit: 2, next, total: 3 }
		assert.equal(all[0], { id: 1, tags: { data: [{ name: 'b' }, { name: 'm' }], meta } })
		assert.equal(all[1], { id: 2, tags: { data: [{ name: 'a' }], meta: { limit: 2, next: null, total: 1 } } })
		assert.equal(all[3], { id: 4, tags: { data: [], meta: { limit: 2, next: null, total: 0 } } })
	})

	withModels('many to many by records that are unique: each once, in any order', async (models) => {
		const { article, tag, tagging, comment, author } = models
		const through = { model: tagging, from: ['article_id', 'at'], on: ['tag_id'] }
		const fields = selectionOf('id name')
		// Of the first article, those that are tagged with at = 1 = id.
		const first: Condition = { op: 'eq', field: 'id', value: 1 }
		const link = { model: tag, fields: ['id', 'id'], to: ['id'], through }
		const found = async (order: string, limit: number) => {
			const many = toMany('tags', link, fields, {
				order,
				limit,
				count: 2,
				where: { op: 'ne', field: 'name', value: 'q' },
			})
			return JSON.parse(await textOf(article, selectionOf('id', many), first))[0].tags
		}
		const ids = (tags: { data: { id: number }[] }) => tags.data.map(({ id }) => id)
		assert.equal(ids(await found('id', 9)), [1, 3, 4])
		assert.equal(ids(await found('-id', 9)), [4, 3, 1])
		assert.equal(ids(await found('-id', 2)), [4, 3])
		assert.equal((await found('-id', 2)).meta, { limit: 2, next: '"tags" after [3]', total: 2, more: true })
		assert.equal(ids(await found('name,id', 2)), [4, 3])
		// Comments lead from articles to authors: by their id, only one each.
		const said = { model: comment, from: ['id'], on: ['author_id'] }
		const authors = toMany(
			'said',
			{ model: author, fields: ['id'], to: ['id'], through: said },
			selectionOf('name'),
		)
		const all = JSON.parse(await textOf(article, selectionOf('id', authors)))
		assert.equal(
			all.map(({ said }: { said: { data: unknown[] } }) => said.data),
			[[{ name: 'Ada' }], [{ name: 'Bob' }], [{ name: 'Ada' }], [{ name: 'Ada' }]],
		)
	})

	withModels('by two columns: to one, to many, and through others', async (models) => {
		const { tagging } = models
		const both = ['article_id', 'tag_id']
		const link = { model: tagging, fields: both, to: both }
		const fields = selectionOf('article_id at')
		const one: Related = {
			...{ name: 'one', link: { ...link, isMany: false }, selection: fields },
			where: { op: 'gt', field: 'at', value: 1 },
		}
		const order = '-at,tag_id,article_id'
		const many = toMany('many', link, fields, { order, limit: 2, count: 2 })
		await agrees(tagging, selectionOf('article_id tag_id at', one, many))
		const through = { model: tagging, from: both, on: both }
		const passed = toMany('many', { ...link, through }, fields, { order, limit: 2, count: 2 })
		assert.is(
			await textOf(tagging, selectionOf('at', passed)),
			await textOf(tagging, selectionOf('at', many)),
		)
	})

	withModels('nested four deep, to one and to many, each with conditions', async (models) => {
		const { article, author, comment } = models
		const nested = (limit: number, count?: number) =>
			selectionOf(
				'title',
				toMany(
					'comments',
					comments(models),
					selectionOf(
						'id text',
						toOne(
							'by',
							author,
							'author_id',
							selectionOf(
								'name',
								toOne('boss', author, 'boss_id', selectionOf('name'), { op: 'ne', field: 'id', value: 2 }),
								toMany(
									'said',
									{ model: comment, fields: ['id'], to: ['author_id'] },
									selectionOf('id stars', toOne('about', article, 'article_id', selectionOf('title'))),
									{ order: '-id', limit: 2, where: isGood, ...(count === undefined ? {} : { count }) },
								),
							),
							{ op: 'in', field: 'id', values: [1, 2, 3] },
						),
					),
					{ limit, where: { op: 'not', term: isFirst }, order: '-stars,id' },
				),
				toOne(
					'author',
					author,
					'author_id',
					selectionOf('id', toOne('boss', author, 'boss_id', selectionOf('id'))),
				),
			)
		for (const limit of [0, 1, 3]) await agrees(article, nested(limit), isFirst)
		await agrees(article, nested(2, 1))
	})

	withModels('a record that is read alone, with others, or in a transaction', async (models) => {
		const { article, author } = models
		const by = toOne('author', author, 'author_id', selectionOf('name'), isFirst)
		const good = toMany('good', comments(models), selectionOf('id'), { where: isGood, count: 2 })
		const selection = selectionOf('id', by, good)
		const expected = await expectedOf(article, selection, undefined)
		const ids = ['1', '2', '3', '4', '1', '9']
		for (const where of [undefined, isFirst])
			for (let times = 0; times < 3; times++) {
				const all = await Promise.all(ids.map((id) => article.read(id, selection, where)))
				const wanted = ids
					.map((id) => expected[Number(id) - 1])
					.map((one, at) => (where && Number(ids[at]) > 2 ? undefined : one))
				assert.equal(
					all.map((one) => one && JSON.parse(one.json)),
					wanted,
				)
				const alone = await article.read('1', selection, where)
				assert.equal(JSON.parse(alone?.json ?? ''), expected[0])
				const inside = await article.transaction((model) => model.read('2', selection, where))
				assert.equal(JSON.parse(inside?.json ?? ''), expected[1])
			}
	})

	withModels('within pages: by offset, after a cursor, with a total and conditions', async (models) => {
		const { article, author } = models
		const by = toOne('author', author, 'author_id', selectionOf('name'), isFirst)
		const good = toMany('good', comments(models), selectionOf('id'), { where: isGood })
		for (const where of [undefined, { op: 'ne', field: 'lang', value: 'de' } as const])
			for (let times = 0; times < 3; times++) {
				const selection = selectionOf('id', by, good)
				const all = await expectedOf(article, selection, where)
				const query = { ...{ selection, where, order: orderOf('id'), total: true }, limit: 2 }
				const first = await article.list({ ...query, offset: 1, after: undefined })
				assert.equal(JSON.parse(first.json), all.slice(1, 3))
				assert.is(first.total, all.length)
				assert.is(first.next, all.length > 3 ? '[3]' : undefined)
				const next = await article.list({ ...query, offset: 0, after: [2] })
				assert.equal(JSON.parse(next.json), all.slice(-2))
			}
	})

	withModels('count towards the size of a page', async (models) => {
		const { article } = models
		const selection = selectionOf(
			'id',
			toMany('comments', comments(models), selectionOf('text'), { limit: 5 }),
		)
		const query = {
			...{ selection, where: undefined, order: orderOf('id'), total: false },
			limit: 1,
			offset: 0,
			after: undefined,
		}
		const { json, next = '' } = await article.list(query)
		const maxBytes = Buffer.byteLength(json + next)
		assert.is((await article.list({ ...query, maxBytes })).json, json)
		for (const less of [maxBytes - 1, 50, 1])
			await article.list({ ...query, maxBytes: less }).then(
				() => assert.unreachable(),
				(error) => assert.is(error instanceof ModelError && error.kind, 'too_large'),
			)
	})

	withModels('are not returned by changes', async (models) => {
		const { article, author } = models
		const selection = selectionOf('id', toOne('author', author, 'author_id', selectionOf('name')))
		const guard = { where: undefined, version: undefined }
		const changes = [
			() => article.create({ id: 9, lang: 'x' }, selection),
			() => article.update('1', { lang: 'x' }, selection, guard),
			() => article.delete('1', selection, guard),
		]
		for (const change of changes)
			await change().then(
				() => assert.unreachable(),
				(error) => assert.instance(error, TypeError),
			)
	})
}

/** A column of the related table is dropped by `drop`. */
export async function goesOnWithout(article: Model, comment: Model, drop: () => unknown): Promise<void> {
	// As a handler does when it is mounted.
	assert.is(article.joins?.(comment), true)
	const link = { model: comment, fields: ['id'], to: ['article_id'] }
	const selection = selectionOf('id', toMany('comments', link, selectionOf('id text'), { limit: 1 }))
	const first = async () => JSON.parse(await textOf(article, selection))[0].comments.data
	for (let times = 0; times < 3; times++) assert.equal(await first(), [{ id: 1, text: `it's "0"` }])
	await drop()
	await first().then(
		() => assert.unreachable(),
		(error) => assert.is(error instanceof ModelError && error.kind, 'busy'),
	)
	for (let times = 0; times < 3; times++) assert.equal(await first(), [{ id: 1 }])
	const found = await article.read('1', selection, undefined)
	assert.equal(JSON.parse(found?.json ?? '').comments.data, [{ id: 1 }])
}

/** All records as the database writes them, without the line breaks between them. */
async function textOf(model: Model, selection: Selection, where?: Condition): Promise<string> {
	const query = {
		...{ selection, where, order: orderOf([model.key].flat().join(',')), total: false },
		limit: 50,
		offset: 0,
		after: undefined,
	}
	return (await model.list(query)).json.replaceAll('},\n{', '},{')
}

/** Lists thrice, because texts are cached from the second time on. */
async function agrees(model: Model, selection: Selection, where?: Condition): Promise<void> {
	const expected = JSON.stringify(await expectedOf(model, selection, where))
	for (let times = 0; times < 3; times++)
		assert.is(JSON.stringify(JSON.parse(await textOf(model, selection, where))), expected)
}

type Json = Record<string, unknown>

async function expectedOf(model: Model, selection: Selection, where: Condition | undefined): Promise<Json[]> {
	const fields = model.fields.map(({ name }) => name)
	const whole = JSON.parse(
		await textOf(model, { fields, names: fields, version: undefined }, where),
	) as Json[]
	return Promise.all(whole.map((record) => embedded(record, selection)))
}

async function embedded(record: Json, { fields, related = [] }: Selection): Promise<Json> {
	const result: Json = {}
	for (const field of fields) result[field] = record[field]
	for (const one of related) result[one.name] = await relatedTo(record, one)
	return result
}

async function relatedTo(record: Json, { link, selection, where, list }: Related): Promise<unknown> {
	const { model, fields, to } = link
	const isRelated = fields.map((field, at): Condition => {
		const value = record[field] as number | string | null
		return value === null ? { op: 'or', terms: [] } : { op: 'eq', field: to[at] ?? '', value }
	})
	const terms: readonly Condition[] = where === undefined ? isRelated : [...isRelated, where]
	const all = await expectedOf(model, selection, { op: 'and', terms })
	if (list === undefined) return all[0] ?? null
	const { order, limit, count, cursor } = list
	const names = model.fields.map(({ name }) => name)
	const query = {
		...{ selection: { fields: names, names, version: undefined }, where: { op: 'and', terms } as const },
		...{ order, limit: Math.max(1, limit), offset: 0, after: undefined, total: true },
	}
	const { json, next, total = 0 } = await model.list(query)
	const page = (JSON.parse(json) as Json[]).slice(0, limit)
	const data = await Promise.all(page.map((one) => embedded(one, selection)))
	const meta: Json = { limit, next: limit === 0 || next === undefined ? null : cursor(next) }
	if (count !== undefined) meta.total = Math.min(total, count)
	if (count !== undefined && total > count) meta.more = true
	return { data, meta }
}

/** Declares the tests of a suite that opens its models once. */
export function onModels(test: Test, open: () => Promise<Models>): WithModels {
	return (promise, work) => test(promise, async () => work(await open()))
}
