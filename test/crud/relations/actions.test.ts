import * as assert from 'uvu/assert'
import { CrudHandler, createServer, MemoryModel, type Model } from '../../../lib/index.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { asking, messageOf } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { Log } from '../../helpers/listening.ts'
import { opened, sqliteDrivers } from '../../helpers/sqlite.ts'

class Comments extends CrudHandler {
	override readonly rateLimits = { create: { limit: 2, windowSeconds: 60 } }
}

function serve() {
	const articleModel = new MemoryModel('article', {
		fields: { id: 'integer', title: 'text' },
		key: 'id',
		rows: [{ title: 'A' }],
	})
	const commentModel = new MemoryModel('comment', {
		fields: { id: 'integer', text: 'text', article_id: 'integer' },
		key: 'id',
		references: [{ field: 'article_id', model: articleModel }],
	})
	const comments = new Comments(commentModel, {
		visible: ['id', 'text'],
		creatable: ['text', 'article_id'],
		allow: ['list', 'read', 'create'],
	})
	const articles = new CrudHandler(articleModel, {
		visible: 'all',
		relations: { comments: { to: comments } },
	})
	const server = createServer({ articles, comments }, { logger: new Log(), logRequests: false })
	return (method: string, url: string, body?: object) =>
		server.inject({
			...{ method, url },
			...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
		})
}

describe('crud/relations/actions', (test) => {
	test('a record created below another has the rate limit of its own handler', async () => {
		const ask = serve()
		const first = await ask('POST', '/articles/1/comments', { text: 'a' })
		assert.is(first.status, 201)
		assert.is(first.headers.location, '/comments/1')
		assert.is((await ask('POST', '/comments', { text: 'b', article_id: 1 })).status, 201)
		assert.is((await ask('POST', '/articles/1/comments', { text: 'c' })).status, 429)
		assert.is((await ask('POST', '/comments', { text: 'd', article_id: 1 })).status, 429)
		assert.is((await ask('GET', '/articles/1/comments')).status, 200)
	})

	test('records that are tied twice are untied in one transaction', async () => {
		const database = opened(sqliteDrivers.find(({ open }) => open !== undefined)?.open)
		database.exec(`
			create table article (id integer primary key);
			create table tag (id integer primary key);
			create table tie (id integer primary key, article_id int references article (id), tag_id int references tag (id));
			insert into article values (1);
			insert into tag values (1);
			insert into tie values (1, 1, 1), (2, 1, 1);
			create trigger kept before delete on tie when old.id = 2 begin select raise(abort, 'not this one'); end;
		`)
		const open = (table: string) => SqliteModel.open(database, table)
		const ties = await open('tie')
		const tags = new CrudHandler(await open('tag'), { visible: 'all' })
		const articles = new CrudHandler(await open('article'), {
			visible: 'all',
			allow: ['read', 'update'],
			relations: { tags: { to: tags, through: ties, writable: ['tie'] } },
		})
		const server = createServer({ articles }, { logger: new Log(), logRequests: false })
		const untie = async () => (await server.inject({ method: 'DELETE', url: '/articles/1/tags/1' })).status
		assert.is(await untie(), 422)
		assert.is(await ties.count(undefined), 2)
		database.exec('drop trigger kept')
		assert.is(await untie(), 204)
		assert.is(await ties.count(undefined), 0)
		const tie = async () => (await server.inject({ method: 'PUT', url: '/articles/1/tags/1' })).status
		assert.equal([await tie(), await tie()], [204, 204])
		assert.is(await ties.count(undefined), 1)
		database.exec(`with recursive n (i) as (select 1 union all select i + 1 from n where i < 2500)
			insert into tie (article_id, tag_id) select 1, 1 from n`)
		assert.equal([await untie(), await untie()], [204, 404])
	})

	test('tie is refused where the model between has a column that a tie can not fill', () => {
		const [article, tag] = ['article', 'tag'].map(
			(name) => new MemoryModel(name, { key: 'id', fields: { id: 'integer' } }),
		) as [MemoryModel, MemoryModel] // of two names
		const tags = new CrudHandler(tag, { visible: 'all' })
		const mount = (note: 'text' | { type: 'text'; nullable?: boolean; default?: string }) => {
			const through = new MemoryModel('tie', {
				key: ['article_id', 'tag_id'],
				fields: { article_id: 'integer', tag_id: 'integer', note },
				references: [
					{ field: 'article_id', model: article },
					{ field: 'tag_id', model: tag },
				],
			})
			const relations = { tags: { to: tags, through, writable: ['tie'] } } as const
			createServer({ articles: new CrudHandler(article, { visible: 'all', relations }) })
		}
		assert.is(
			messageOf(() => mount('text')),
			'CrudHandler of article: relations.tags: writable: tie: no tie could be made without note: give its column a default',
		)
		mount({ type: 'text', nullable: true })
		mount({ type: 'text', default: '' })
	})

	test('the other record may have a larger number than the foreign key to the first can hold', async () => {
		const large = '9007199254740993'
		const article = new MemoryModel('article', { key: 'id', fields: { id: 'integer' }, rows: [{}] })
		const tag = new MemoryModel('tag', { key: 'id', fields: { id: 'bigint' }, rows: [{ id: large }] })
		const tie = new MemoryModel('tie', {
			key: ['article_id', 'tag_id'],
			fields: { article_id: 'integer', tag_id: 'bigint' },
			references: [
				{ field: 'article_id', model: article },
				{ field: 'tag_id', model: tag },
			],
		})
		const tags = new CrudHandler(tag, { visible: 'all' })
		const articles = new CrudHandler(article, {
			visible: 'all',
			allow: ['read', 'update'],
			relations: { tags: { to: tags, through: tie, writable: ['tie'] } },
		})
		const server = createServer({ articles }, { logger: new Log(), logRequests: false })
		const ask = async (method: string) =>
			(await server.inject({ method, url: `/articles/1/tags/${large}` })).status
		assert.equal([await ask('PUT'), await ask('DELETE')], [204, 204])
	})

	test('a record below one whose value to refer to is null is refused: it would belong to none, or to another', async () => {
		const database = opened(sqliteDrivers.find(({ open }) => open !== undefined)?.open)
		database.exec(`
			create table author (id bigint primary key, code int unique);
			create table article (id integer primary key, author_id int references author (id), code int references author (code));
			insert into author values (1152921504606846977, null), (2, 5);
			insert into article values (1, 1152921504606846977, 5)`)
		const [author, article] = await Promise.all(
			['author', 'article'].map((table) => SqliteModel.open(database, table)),
		)
		assert.ok(author !== undefined && article !== undefined)
		const articles = new CrudHandler(article, {
			visible: 'all',
			creatable: ['code', 'author_id'],
			allow: ['list', 'create'],
		})
		const authors = new CrudHandler(author, {
			visible: 'all',
			allow: ['read'],
			relations: { coded: { to: articles, by: 'code' }, own: { to: articles, by: 'author_id' } },
		})
		const { said } = asking({ authors })
		for (const body of [{}, { code: 5 }])
			assert.match(
				await said('POST /authors/1152921504606846977/coded', { body }),
				/^409 .*No record can refer to this one/,
			)
		assert.is(await article.count(undefined), 1)
		// SQLite's `int` has 64 bits.
		assert.match(await said('/authors/1152921504606846977/own'), '"data":[{"id":1,')
	})

	for (const [name, open] of Object.entries({ MemoryModel: inMemory, SqliteModel: inSqlite })) {
		test(`ties of ${name} whose foreign keys share a column are only between equal values`, async () => {
			const { employee, project, work } = await open()
			const projects = new CrudHandler(project, { visible: 'all' })
			class Employees extends CrudHandler {
				override scope() {
					return { site: 'A' }
				}
			}
			const employees = new Employees(employee, {
				visible: 'all',
				allow: ['read', 'update'],
				relations: { projects: { to: projects, through: work, writable: ['tie'] } },
			})
			const server = createServer({ employees }, { logger: new Log(), logRequests: false })
			const tie = async (url: string) => (await server.inject({ method: 'PUT', url })).status
			assert.is(await tie('/employees/1/projects/B,5'), 404)
			assert.is(await tie('/employees/A,1/projects/B,5'), 404)
			assert.is(await work.count(undefined), 0)
			assert.is(await tie('/employees/A,1/projects/A,5'), 204)
			assert.is(await tie('/employees/A,1/projects/A,5'), 204)
			// Unique as well: one employee in each place.
			assert.is(await tie('/employees/A,1/projects/A,6'), 409)
			assert.is(await work.count(undefined), 1)
		})
	}
})

async function inMemory(): Promise<Record<'employee' | 'project' | 'work', Model>> {
	const rows = [
		{ site: 'A', id: 1 },
		{ site: 'B', id: 1 },
	]
	const employee = new MemoryModel('employee', {
		...{ fields: { site: 'text', id: 'integer' }, key: ['site', 'id'], rows },
	})
	const project = new MemoryModel('project', {
		...{ fields: { site: 'text', no: 'integer' }, key: ['site', 'no'] },
		rows: [
			{ site: 'A', no: 5 },
			{ site: 'A', no: 6 },
			{ site: 'B', no: 5 },
		],
	})
	const work = new MemoryModel('work', {
		fields: { site: 'text', id: 'integer', no: 'integer' },
		key: ['site', 'id', 'no'],
		unique: [['site', 'id']],
		references: [
			{ field: ['site', 'id'], model: employee },
			{ field: ['site', 'no'], model: project },
		],
	})
	return { employee, project, work }
}

async function inSqlite(): Promise<Record<'employee' | 'project' | 'work', Model>> {
	const database = opened(sqliteDrivers.find(({ open }) => open !== undefined)?.open)
	database.exec(`
		create table employee (site text, id integer, primary key (site, id));
		create table project (site text, no integer, primary key (site, no));
		create table work (site text, id integer, no integer, primary key (site, id, no),
			foreign key (site, id) references employee, foreign key (site, no) references project);
		create unique index once on work (site, id) where no > 0;
		insert into employee values ('A', 1), ('B', 1);
		insert into project values ('A', 5), ('A', 6), ('B', 5);
	`)
	const open = (table: string) => SqliteModel.open(database, table)
	return { employee: await open('employee'), project: await open('project'), work: await open('work') }
}
