/** Programs written by `verbena eject` send the same responses as `verbena`, byte for byte. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { parseCommand } from '../../lib/cli/arguments.ts'
import { sourceOf } from '../../lib/cli/databases.ts'
import { serve } from '../../lib/cli/serve.ts'
import { written } from '../../lib/cli/write.ts'
import { describe } from '../helpers/describe.ts'
import { MARIADB, mariadbIsHere } from '../helpers/mariadb.ts'
import { driversHere, SERVER } from '../helpers/postgres.ts'
import { freePorts, ROOT, run, start, typescript, untilPrinted } from '../helpers/program.ts'

/** With every shape of key and relation, and names that aren't identifiers. */
const SCHEMA = [
	'create table author (id int primary key, name varchar(50) not null)',
	`create table article (id int primary key, title varchar(50) not null, author_id int, editor_id int, parent_id int,
		foreign key (author_id) references author (id), foreign key (editor_id) references author (id),
		foreign key (parent_id) references article (id))`,
	'create table tag (id int primary key, class varchar(20))',
	`create table article_tag (article_id int, tag_id int, primary key (article_id, tag_id),
		foreign key (article_id) references article (id), foreign key (tag_id) references tag (id))`,
	'create table class (id int primary key, foreign key (id) references author (id))',
	'create table log (line varchar(50))',
	'create view titles as select title from article',
	"insert into author values (1, 'Ada'), (2, 'Bob')",
	"insert into article values (1, 'Verbena', 1, 2, null), (2, 'Thyme', 2, null, 1)",
	"insert into tag values (1, 'herb')",
	'insert into article_tag values (1, 1), (2, 1)',
	'insert into class values (1)',
	"insert into log values ('begun')",
]
const REQUESTS = [
	'GET /author?include=article_by_author_id,article_by_editor_id,class',
	'GET /article?include=author,editor,parent,article_by_parent_id,article_tag,tag&sort=-author.name',
	'GET /tag/1?include=article,article_tag.article',
	'GET /article_tag/1,1?include=article,tag',
	'GET /article/1/tag?count=exact',
	...['GET /class/1?include=author', 'GET /log', 'GET /titles?sort=title', 'GET /titles/1'],
	...[
		'GET /odd_name_',
		'GET /article?search=thyme',
		'GET /article?titel=1',
		'GET /openapi.json',
		'GET /nothing',
	],
	...['PATCH /author/2 {"name":"Bo"}', 'POST /tag {"id":7,"class":"x"}', 'POST /tag [{"id":8},{"id":8}]'],
	...[
		'PATCH /titles {"title":"x"}',
		'DELETE /tag/7',
		'DELETE /author/1',
		'PUT /article/1/tag/8',
		'POST /tag {"id":8}',
		'PUT /article/1/tag/8',
		'DELETE /article/1/tag/8',
	],
]

describe('programs that verbena ejects', (test) => {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-eject-'))
	symlinkSync(`${ROOT}/node_modules`, `${folder}/node_modules`, 'dir')
	writeFileSync(`${folder}/package.json`, '{"type":"module"}')
	writeFileSync(
		`${folder}/tsconfig.json`,
		JSON.stringify({
			compilerOptions: {
				...{ strict: true, module: 'nodenext', target: 'es2023', types: ['node'], noEmit: true },
				...{ allowImportingTsExtensions: true, skipLibCheck: true },
			},
		}),
	)
	test.after(() => rmSync(folder, { recursive: true, force: true }))

	/** The answers to all requests, in turn, from a place where `undo` takes back what they write. */
	async function answers(url: string): Promise<string[]> {
		const all: string[] = []
		for (const request of REQUESTS) {
			const [, method = '', path = '', body] = /^(\w+) (\S+)(?: (.+))?$/.exec(request) ?? []
			const headers = body === undefined ? {} : { 'content-type': 'application/json' }
			const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })
			const text = (await response.text()).replaceAll(url, 'URL').replaceAll(/"requestId":"[^"]*"/g, '')
			all.push(`${request} → ${response.status} ${response.headers.get('link') ?? ''} ${text}`)
		}
		return all
	}

	/** Serves it by the command and by the program, and compares. */
	async function assertSame(words: readonly string[], fill: () => Promise<unknown>): Promise<void> {
		const command = (...action: string[]) => {
			const port = action.length === 0 ? ['--port', '0'] : []
			const read = parseCommand([...action, ...words, '--write', ...port], {})
			if (typeof read === 'string') throw new Error('it asks for no help')
			return read
		}
		await fill()
		const serving = await serve(command(), await sourceOf(command(), folder), () => {})
		const expected = await answers(serving.url)
		await serving.close()
		assert.ok(expected.filter((answer) => / → 20\d /.test(answer)).length >= 16, expected.join('\n'))
		assert.is(expected.filter((answer) => / → 500 /.test(answer)).length, 0, expected.join('\n'))
		await fill()
		const program = await written(command('eject'), await sourceOf(command('eject'), folder), () => {})
		const sources = { verbena: 'index', 'verbena/postgres': 'models/postgres/model' }
		const others = { 'verbena/mysql': 'models/mysql/model', 'verbena/sqlite': 'models/sqlite/model' }
		let text = program
		for (const [name, file] of Object.entries({ ...sources, ...others }))
			text = text.replace(`from '${name}'`, `from '${ROOT}/lib/${file}.ts'`)
		writeFileSync(`${folder}/api.ts`, text)
		const types = await written(command('types'), await sourceOf(command('types'), folder), () => {})
		const client = `${ROOT}/lib/client/crud.ts`
		writeFileSync(`${folder}/db.ts`, types.replace("'verbena/client/crud'", `'${client}'`))
		writeFileSync(
			`${folder}/page.ts`,
			`import { CrudClient } from '${client}'
import type { Db, Related } from './db.ts'
const articles = new CrudClient<Db['article'], Related['article']>('article', '/')
const { data } = await articles.list({ fields: ['title', 'author.name'], include: ['tag.article'] })
for (const { title, author, tag } of data)
	console.log(title.length, author?.name, tag.data[0]?.article.meta.limit)
`,
		)
		const [port = 0] = await freePorts(1)
		const running = start({ args: typescript(`${folder}/api.ts`), cwd: folder, env: { PORT: String(port) } })
		await untilPrinted(running, `http://127.0.0.1:${port}`)
		assert.equal(await answers(`http://127.0.0.1:${port}`), expected)
		running.child.kill('SIGTERM')
		assert.is(await running.ended, 0)
	}

	/** Of the program written last; that for SQLite imports `node:sqlite` where Node has it, whose types are not here. */
	const compiles = async () => {
		const { output } = await run({ args: [`${ROOT}/node_modules/typescript/bin/tsc`, '-p', folder] })
		assert.is(output, '')
	}

	test('for SQLite', async () => {
		const file = join(folder, 'blog.db')
		const fill = async () => {
			rmSync(file, { force: true })
			const { default: Database } = await import('libsql')
			const database = new Database(file)
			for (const statement of [...SCHEMA, 'create table "odd name!" (id integer primary key)'])
				database.exec(statement)
			database.close()
		}
		await assertSame([`sqlite:${file}`], fill)
	})

	test('for PostgreSQL', async () => {
		if (!(await driversHere()).includes('pg')) return
		const schema = `eject_${process.pid}`
		const credentials = SERVER.password === undefined ? SERVER.user : `${SERVER.user}:${SERVER.password}`
		const client = new pg.Client(SERVER)
		await client.connect()
		const statements = [...SCHEMA, 'create table "odd name!" (id int primary key, "first ""name" text)']
		const fill = () =>
			client.query(`drop schema if exists ${schema} cascade; create schema ${schema}; set search_path to ${schema};
				${statements.join(';')}`)
		try {
			const url = `postgres://${credentials}@${SERVER.host}:${SERVER.port}/${SERVER.database}`
			await assertSame([url, '--schema', schema], fill)
			await compiles()
		} finally {
			await client.query(`drop schema ${schema} cascade`)
			await client.end()
		}
	})

	test('for MariaDB', async () => {
		if (!(await mariadbIsHere())) return
		const name = `eject_${process.pid}`
		const { host, port, user, password } = MARIADB
		const connection = await mysql.createConnection({ ...MARIADB, multipleStatements: true })
		const statements = [...SCHEMA, 'create table `odd name!` (id int primary key, `first ``name` text)']
		const fill = () =>
			connection.query(
				`drop database if exists ${name}; create database ${name}; use ${name}; ${statements.join(';')}`,
			)
		try {
			await assertSame(
				[`mysql://${user}${password === '' ? '' : `:${password}`}@${host}:${port}/${name}`],
				fill,
			)
			await compiles()
		} finally {
			await connection.query(`drop database ${name}`)
			await connection.end()
		}
	})

	test('not for a file in memory', async () => {
		writeFileSync(`${folder}/db.json`, '{"posts":[{"id":1}]}')
		const command = parseCommand(['eject', 'db.json'], {})
		assert.ok(typeof command !== 'string')
		const error = await written(command, await sourceOf(command, folder), () => {}).catch((error) => error)
		assert.is(error.message, 'db.json, in memory: eject is for databases that a driver opens')
	})
})
