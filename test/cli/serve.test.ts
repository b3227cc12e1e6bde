/** `verbena` as people run it: databases of each kind, by the drivers in their folder, and what it says where it can't. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer as createNetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { parseCommand } from '../../lib/cli/arguments.ts'
import { sourceOf } from '../../lib/cli/databases.ts'
import { driverIn } from '../../lib/cli/drivers.ts'
import { type Serving, serve } from '../../lib/cli/serve.ts'
import { describe } from '../helpers/describe.ts'
import { MARIADB, mariadbIsHere } from '../helpers/mariadb.ts'
import { driversHere, SERVER } from '../helpers/postgres.ts'
import { ROOT, run, start, typescript, untilPrinted } from '../helpers/program.ts'
import { sqliteDrivers } from '../helpers/sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'verbena-cli-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
/** A folder with some of our packages, as a user has installed them. */
function folderWith(...names: string[]): string {
	const own = mkdtempSync(join(folder, 'with-'))
	mkdirSync(join(own, 'node_modules'))
	for (const name of names)
		symlinkSync(`${ROOT}/node_modules/${name}`, join(own, 'node_modules', name), 'dir')
	return own
}

interface Tried {
	readonly printed: readonly string[]
	readonly serving: Serving
	/** `GET /author?limit=1`: the status, and the JSON's data or error. */
	said(request: string, init?: RequestInit): Promise<string>
}

async function served(words: readonly string[], where = ROOT, env = {}): Promise<Tried> {
	const command = parseCommand([...words, '--port', '0'], env)
	assert.ok(typeof command !== 'string')
	const printed: string[] = []
	const serving = await serve(command, await sourceOf(command, where), (text) => printed.push(text))
	const said = async (path: string, init?: RequestInit) => {
		const response = await fetch(`${serving.url}${path}`, init)
		const { data, error } = (await response.json()) as { data?: unknown; error?: string }
		return `${response.status} ${JSON.stringify(data ?? error)}`
	}
	return { printed, serving, said }
}

/** The message of a failure to serve. */
async function refusal(words: readonly string[], where = ROOT): Promise<string> {
	try {
		const { serving } = await served(words, where)
		await serving.close()
		return 'it is served'
	} catch (error) {
		return error instanceof Error ? error.message : String(error)
	}
}

const SCHEMA = [
	'create table author (id int primary key, name varchar(50) not null)',
	'create table article (id int primary key, title varchar(50) not null, author_id int, foreign key (author_id) references author (id))',
	'create view titles as select title from article',
	"insert into author values (1, 'Ada')",
	"insert into article values (1, 'Verbena', 1)",
]

/** The same for each database. */
async function assertServes({ printed, said }: Tried): Promise<void> {
	const [text = ''] = printed
	assert.match(text, /: 3 tables, read only\n/)
	assert.match(text, /\n {2}\/article +id, title, author_id {2}with author\n/)
	assert.match(text, /\n {2}\/author +id, name {2}with article\n/)
	assert.match(text, /\n {2}\/titles +title {2}\(list only: no key\)\n/)
	assert.match(text, /\nTry: +curl 'http:\/\/127\.0\.0\.1:\d+\/article\?limit=3'\n/)
	assert.is(
		await said('/article?include=author&author.name=Ada'),
		'200 [{"id":1,"title":"Verbena","author_id":1,"author":{"id":1,"name":"Ada"}}]',
	)
	assert.is(await said('/titles'), '200 [{"title":"Verbena"}]')
	assert.match(await said('/author/1', { method: 'DELETE' }), /^405 /)
	assert.match(await said('/author', { headers: { host: 'example.com' } }), /^(?:200|421) /)
}

describe('verbena serves', (test) => {
	for (const { name, open } of sqliteDrivers) {
		if (open === undefined) continue
		test(`an SQLite file, by ${name}`, async () => {
			const file = join(folder, `${name.replaceAll(/\W/g, '')}.db`)
			const Database = (await import('libsql')).default
			const database = new Database(file)
			for (const statement of SCHEMA) database.exec(statement)
			database.close()
			const tried = await served([`sqlite:${file}`], folderWith(name.includes('node:') ? 'libsql' : name))
			await assertServes(tried)
			await tried.serving.close()
		})
	}

	test('a JSON file, and writes to memory', async () => {
		const file = join(folder, 'blog.json')
		writeFileSync(file, '{"posts":[{"id":1,"title":"a"}],"comments":[{"id":1,"postId":1}]}')
		const { said, printed, serving } = await served([file, '--write'])
		assert.match(printed[0] ?? '', /blog\.json, in memory: 2 tables, to read and to write\n/)
		assert.match(printed[0] ?? '', /in memory, so lost when it stops/)
		const headers = { 'content-type': 'application/json' }
		assert.is(
			await said('/posts', { method: 'POST', headers, body: '{"title":"b"}' }),
			'201 {"id":2,"title":"b"}',
		)
		assert.is(await said('/comments?include=post'), '200 [{"id":1,"postId":1,"post":{"id":1,"title":"a"}}]')
		const crossSite = { ...headers, 'sec-fetch-site': 'cross-site' }
		assert.match(await said('/posts/2', { method: 'DELETE', headers: crossSite }), /^403 /)
		await serving.close()
	})

	test('only the tables that are named, and to those who have the token', async () => {
		const file = join(folder, 'two.json')
		writeFileSync(file, '{"posts":[{"id":1}],"comments":[{"id":1}]}')
		const token = 'b'.repeat(20)
		const { said, printed, serving } = await served([file, '--tables', 'posts'], ROOT, {
			VERBENA_TOKEN: token,
		})
		assert.match(printed[0] ?? '', /curl -H "Authorization: Bearer \$VERBENA_TOKEN" '/)
		assert.not.match(printed.join(''), token)
		assert.match(await said('/posts'), /^401 /)
		assert.match(await said('/openapi.json'), /^401 /)
		assert.match(await said('/posts', { headers: { authorization: `Bearer ${token}x` } }), /^401 /)
		const headers = { authorization: `Bearer ${token}` }
		assert.is(await said('/posts', { headers }), '200 [{"id":1}]')
		assert.match(await said('/comments', { headers }), /^404 /)
		await serving.close()
		assert.match(await refusal([file, '--tables', 'post']), /has no table post: did you mean posts\?/)
	})

	test('what has changed, with --watch, and what was there while a file is broken', async () => {
		const file = join(folder, 'watched.json')
		const write = (text: string, second: number) => {
			writeFileSync(file, text)
			utimesSync(file, second, second)
		}
		write('{"posts":[{"id":1}]}', 1)
		const { said, printed, serving } = await served([file, '--watch'])
		const until = async (path: string, answer: string) => {
			while ((await said(path).catch(() => '')) !== answer)
				await new Promise((resolve) => setTimeout(resolve, 50))
		}
		write('{"posts":', 2)
		while (!printed.some((text) => text.includes('is not JSON')))
			await new Promise((resolve) => setTimeout(resolve, 50))
		assert.is(await said('/posts'), '200 [{"id":1}]')
		write('{"posts":[{"id":1},{"id":2}],"tags":[{"id":1}]}', 3)
		await until('/tags', '200 [{"id":1}]')
		assert.is(await said('/posts'), '200 [{"id":1},{"id":2}]')
		assert.match(printed.at(-1) ?? '', /^\nThe tables have changed\.\n/)
		await serving.close()
	})
})

if ((await driversHere()).includes('pg'))
	describe('verbena serves PostgreSQL', (test) => {
		const schema = `cli_${process.pid}`
		const credentials = SERVER.password === undefined ? SERVER.user : `${SERVER.user}:${SERVER.password}`
		const url = `postgres://${credentials}@${SERVER.host}:${SERVER.port}/${SERVER.database}`
		const client = new pg.Client(SERVER)
		test.before(async () => {
			await client.connect()
			await client.query(`create schema ${schema}; set search_path to ${schema}; ${SCHEMA.join(';')}`)
		})
		test.after(async () => {
			await client.query(`drop schema ${schema} cascade`)
			await client.end()
		})

		for (const driver of ['pg', 'postgres'])
			test(`by ${driver}`, async () => {
				const tried = await served([url, '--schema', schema], folderWith(driver))
				await assertServes(tried)
				assert.not.match(tried.printed.join(''), SERVER.password ?? `${SERVER.user}@`)
				await tried.serving.close()
			})

		test('but for tables that the user may not read, and says so', async () => {
			await client.query(`create role ${schema} login; grant usage on schema ${schema} to ${schema};
				grant select on ${schema}.author to ${schema}`)
			const own = url.replace(`//${credentials}@`, `//${schema}@`)
			try {
				const { printed, serving } = await served([own, '--schema', schema])
				assert.match(printed[0] ?? '', /not served: article: permission denied for table article/)
				await serving.close()
				await client.query(`revoke select on ${schema}.author from ${schema}`)
				assert.match(
					await refusal([own, '--schema', schema, '--tables', 'author']),
					/no table that can be served:\n {2}author: permission denied/,
				)
			} finally {
				await client.query(`drop owned by ${schema}; drop role ${schema}`)
			}
		})

		test('or says what is wrong', async () => {
			const at = `${SERVER.host}:${SERVER.port}`
			assert.match(await refusal([`${url}_none`]), `PostgreSQL at ${at}/${SERVER.database}_none: database`)
			assert.match(
				await refusal(['postgres://u@127.0.0.1:1/d']),
				'PostgreSQL at 127.0.0.1:1/d does not answer',
			)
			assert.match(
				await refusal(['postgres://u@nowhere.invalid/d']),
				/there is no such host|address can't be found/,
			)
			assert.match(
				await refusal([url, '--schema', 'none_such']),
				/there are no tables.* in schema "none_such"/,
			)
		})
	})

if (await mariadbIsHere())
	describe('verbena serves MariaDB', (test) => {
		const name = `cli_${process.pid}`
		const { host, port, user, password } = MARIADB
		const url = (database: string, as = user) =>
			`mysql://${as}${password === '' ? '' : `:${password}`}@${host}:${port}/${database}`
		let connection: mysql.Connection
		test.before(async () => {
			connection = await mysql.createConnection({ ...MARIADB, multipleStatements: true })
			await connection.query(`create database ${name}; use ${name}; ${SCHEMA.join(';')}`)
		})
		test.after(async () => {
			await connection.query(`drop database ${name}`)
			await connection.end()
		})

		test('by mysql2', async () => {
			const tried = await served([url(name)], folderWith('mysql2'))
			await assertServes(tried)
			await tried.serving.close()
		})

		test('or says what is wrong', async () => {
			assert.match(await refusal([url('none_such')]), /: Unknown database 'none_such'$/)
			assert.match(await refusal([url('')]), /^Which database\? Its name follows the host/)
			assert.match(
				await refusal([url(name, 'nobody_such')]),
				/(?:no right to this database|the password): Access denied/,
			)
			assert.match(
				await refusal(['mysql://u@127.0.0.1:1/d']),
				'MariaDB or MySQL at 127.0.0.1:1/d does not answer',
			)
			await connection.query(`create database ${name}_empty`)
			assert.match(await refusal([url(`${name}_empty`)]), /has no tables that this user can see$/)
			await connection.query(`drop database ${name}_empty`)
		})
	})

describe('drivers', (test) => {
	test('are found in the folder first, and then beside the package', async () => {
		const [own, other] = [folderWith('postgres'), folderWith('pg')]
		const nameIn = async (first: string, second: string) => {
			const found = await driverIn(first, ['pg', 'postgres'], 'PostgreSQL', join(second, 'package.json'))
			return found.name
		}
		assert.is(await nameIn(own, other), 'postgres')
		assert.is(await nameIn(folder, other), 'pg')
		assert.is(await nameIn(folderWith('postgres', 'pg'), folder), 'pg')
	})

	test('that are missing are named with the command that installs them', async () => {
		const said = async (...names: [string, ...string[]]) =>
			driverIn(folder, names, 'PostgreSQL', join(folder, 'package.json')).catch(({ message }) => message)
		assert.is(
			await said('pg', 'postgres'),
			`PostgreSQL needs a driver, and there is none in ${folder}: npm install pg (or postgres)`,
		)
		assert.match(await said('mysql2/promise'), /: npm install mysql2$/)
	})
})

describe('the command verbena', (test) => {
	const command = (...words: string[]) => typescript(`${ROOT}/lib/cli/main.ts`, ...words)

	test('serves until it is told to stop', async () => {
		const file = join(folder, 'main.json')
		writeFileSync(file, '{"posts":[{"id":1}]}')
		const running = start({ args: command(file, '--port', '0') })
		await untilPrinted(running, 'Stop: ')
		const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\/posts\?limit=3/.exec(running.output()) ?? []
		assert.is((await fetch(url)).status, 200)
		running.child.kill('SIGINT')
		assert.is(await running.ended, 0)
		assert.match(running.output(), /\nClosed\n$/)
	})

	test('ends with 1 and one line of what is wrong', async () => {
		const { code, output } = await run({ args: command('nothing.db') })
		assert.is(code, 1)
		assert.match(output, /^There is no file nothing\.db in .*\n$/)
	})

	test('says what it takes, and its version', async () => {
		assert.match((await run({ args: command('--help') })).output, /^Serves a database as a REST API\./)
		assert.match((await run({ args: command('--version') })).output, /^\d+\.\d+\.\d+\n$/)
	})

	test('says which port is taken, and which to try', async () => {
		const other = createNetServer().listen(0, '127.0.0.1')
		await new Promise((resolve) => other.once('listening', resolve))
		const { port } = other.address() as { port: number }
		const file = join(folder, 'taken.json')
		writeFileSync(file, '{"posts":[{"id":1}]}')
		const { code, output } = await run({ args: command(file, '--port', String(port)) })
		other.close()
		assert.is(code, 1)
		assert.match(output, new RegExp(`^Port ${port} is taken: choose another with --port ${port + 1}`))
	})

	test('refuses files that are no database, and schemes that it does not know', async () => {
		const file = join(folder, 'text.db')
		writeFileSync(file, 'This is a text of more than a hundred bytes, and not a database: '.repeat(4))
		assert.match(await refusal([`sqlite:${file}`]), / is not an SQLite database$/)
		assert.match(
			await refusal(['oracle://h/d']),
			/^oracle: is no database that is known here: write postgres:/,
		)
		assert.match(await refusal(['blog.txt']), /^blog\.txt is neither a URL of a database nor/)
		assert.match(await refusal(['postgres://u@h:70000/d']), /^This is no URL: write postgres:/)
		assert.match(await refusal(['blog.json', '--schema', 's']), /^--schema is for PostgreSQL$/)
	})
})
