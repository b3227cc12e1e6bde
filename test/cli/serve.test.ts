/** `verbena` as users run it: databases of each kind, with the drivers in their folder, and the messages when it can't serve. */
import { once } from 'node:events'
import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer as createNetServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { parseCommand } from '../../lib/cli/arguments.ts'
import { sourceOf } from '../../lib/cli/databases.ts'
import { serve } from '../../lib/cli/serve.ts'
import { bundled } from '../helpers/bundled.ts'
import { describe } from '../helpers/describe.ts'
import { until } from '../helpers/listening.ts'
import { MARIADB, mariadbIsHere } from '../helpers/mariadb.ts'
import { driversHere, SERVER } from '../helpers/postgres.ts'
import { ROOT, run, start, untilPrinted } from '../helpers/program.ts'
import { connected } from '../helpers/raw.ts'
import { sqliteDrivers } from '../helpers/sqlite.ts'
import { folder, folderWith } from './folders.ts'

interface Tried {
	readonly printed: readonly string[]
	readonly url: string
	/** `GET /author?limit=1`: the status, and the JSON's data or error. */
	said(request: string, init?: RequestInit): Promise<string>
}

/** With `--watch` it looks every 20 ms. */
async function serving(
	words: readonly string[],
	use: (tried: Tried) => Promise<void>,
	where = ROOT,
	env = {},
): Promise<void> {
	const command = parseCommand([...words, '--port', '0'], env)
	assert.ok(typeof command !== 'string')
	const printed: string[] = []
	const { url, close } = await serve(
		command,
		await sourceOf(command, where),
		(text) => printed.push(text),
		20,
	)
	const said = async (path: string, init?: RequestInit) => {
		const response = await fetch(`${url}${path}`, init)
		const { data, error } = (await response.json()) as { data?: unknown; error?: string }
		return `${response.status} ${JSON.stringify(data ?? error)}`
	}
	try {
		await use({ printed, url, said })
	} finally {
		await Promise.all([close(), close()])
	}
}

/** The message of a failure to serve. */
async function refusal(words: readonly string[], where = ROOT): Promise<string> {
	try {
		await serving(words, async () => {}, where)
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
async function assertServes({ printed, said, url }: Tried): Promise<void> {
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
	// Against DNS rebinding.
	await connected(Number(new URL(url).port), async (client) => {
		await client.send('GET /author HTTP/1.1\r\nHost: example.com\r\n\r\n')
		assert.is((await client.response()).status, 421)
	})
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
			const isOwn = sqliteDrivers.some((one) => one.name === 'node:sqlite' && one.open !== undefined)
			const where = name === 'node:sqlite' ? folder : folderWith(name)
			await serving([`sqlite:${file}`], assertServes, where)
			// Where Node has its own, that is taken: the others are found only on older ones.
			await serving(
				[`sqlite:${file}`],
				async ({ printed }) => assert.match(printed[0] ?? '', `SQLite by ${isOwn ? 'node:sqlite' : name}, `),
				where,
			)
		})
	}

	test('a JSON file, and writes to memory', async () => {
		const file = join(folder, 'blog.json')
		writeFileSync(file, '{"posts":[{"id":1,"title":"a"}],"comments":[{"id":1,"postId":1}]}')
		await serving([file, '--write'], async ({ said, printed }) => {
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
		})
	})

	test('only the tables that are named, and to those who have the token', async () => {
		const file = join(folder, 'two.json')
		writeFileSync(file, '{"posts":[{"id":1}],"comments":[{"id":1}]}')
		const token = 'b'.repeat(20)
		const use = async ({ said, printed }: Tried) => {
			assert.match(printed[0] ?? '', /curl -H "Authorization: Bearer \$VERBENA_TOKEN" '/)
			assert.not.match(printed.join(''), token)
			assert.match(await said('/posts'), /^401 /)
			assert.match(await said('/openapi.json'), /^401 /)
			assert.match(await said('/posts', { headers: { authorization: `Bearer ${token}x` } }), /^401 /)
			const headers = { authorization: `Bearer ${token}` }
			assert.is(await said('/posts', { headers }), '200 [{"id":1}]')
			assert.match(await said('/comments', { headers }), /^404 /)
		}
		await serving([file, '--tables', 'posts'], use, ROOT, { VERBENA_TOKEN: token })
		assert.match(await refusal([file, '--tables', 'post']), /has no table post: did you mean posts\?/)
	})

	test('what has changed, with --watch, and what was there while a file is broken', async () => {
		const file = join(folder, 'watched.json')
		const write = (text: string, second: number) => {
			writeFileSync(file, text)
			utimesSync(file, second, second)
		}
		write('{"posts":[{"id":1}]}', 1)
		await serving([file, '--watch'], async ({ said, printed }) => {
			write('{"posts":', 2)
			await until(() => printed.some((text) => text.includes('is not JSON')), 'it is told of')
			assert.is(await said('/posts'), '200 [{"id":1}]')
			rmSync(file)
			await until(() => printed.some((text) => text.includes("can't be read: ENOENT")), 'it is told of')
			write('{"posts":[{"id":1},{"id":2}],"tags":[{"id":1}]}', 3)
			await until(() => printed.at(-1)?.includes('The tables have changed') === true, 'it is served')
			// The connection that fetch has kept is closed.
			await until(
				async () => (await said('/tags').catch(() => '')) === '200 [{"id":1}]',
				'the new table is there',
			)
			assert.is(await said('/posts'), '200 [{"id":1},{"id":2}]')
		})
	})

	test('the tables of a database as they are, with --watch', async () => {
		const { open } = sqliteDrivers.find((driver) => driver.open !== undefined) ?? {}
		const file = join(folder, 'changing.db')
		const database = open?.(file)
		database?.exec('create table note (id integer primary key)')
		await serving([file, '--watch'], async ({ said, printed }) => {
			assert.is(await said('/note'), '200 []')
			database?.exec('alter table note add text text; create table tag (id integer primary key)')
			await until(() => printed.at(-1)?.includes('The tables have changed') === true, 'it is served')
			// The connection that fetch has kept is closed.
			await until(async () => (await said('/tag').catch(() => '')) === '200 []', 'the new table is there')
			assert.is(await said('/note?text=a'), '200 []')
		})
		database?.close()
	})

	test('all but views that can no longer be opened, and names these', async () => {
		const { open } = sqliteDrivers.find((driver) => driver.open !== undefined) ?? {}
		const file = join(folder, 'broken-view.db')
		const database = open?.(file)
		database?.exec(`create table note (id integer primary key); create table gone (id integer);
			create view broken as select id from gone; create view notes as select id from note; drop table gone`)
		database?.close()
		await serving([file], async ({ said, printed }) => {
			assert.match(printed[0] ?? '', /not served: broken: .*gone/)
			assert.is(await said('/note'), '200 []')
			assert.is(await said('/notes'), '200 []')
		})
		assert.match(
			await refusal([file, '--tables', 'broken']),
			/no table that can be served:\n {2}broken: .*gone/,
		)
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
				const use = async (tried: Tried) => {
					await assertServes(tried)
					assert.not.match(tried.printed.join(''), `:${SERVER.password ?? 'no password'}@`)
				}
				await serving([url, '--schema', schema], use, folderWith(driver))
			})

		const socket = `/var/run/postgresql/.s.PGSQL.${SERVER.port}`
		if (existsSync(socket))
			for (const driver of ['pg', 'postgres'])
				test(`by its socket, with ${driver}`, async () => {
					const at = `postgres:///${SERVER.database}?host=/var/run/postgresql&user=${SERVER.user}`
					await serving([at, '--schema', schema], assertServes, folderWith(driver))
				})

		test('but for tables that the user may not read, and says so', async () => {
			await client.query(`create role ${schema} login password 'x'; grant usage on schema ${schema} to ${schema};
				grant select on ${schema}.author to ${schema}`)
			const own = url.replace(`//${credentials}@`, `//${schema}:x@`)
			try {
				await serving([own, '--schema', schema], async ({ printed }) => {
					assert.match(printed[0] ?? '', /not served: article: permission denied for table article/)
				})
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
			await client.query(`create database ${schema}_empty`)
			try {
				const empty = url.replace(/\w+$/, `${schema}_empty`)
				assert.match(await refusal([empty]), /: there are no tables or views in schema "public"$/)
			} finally {
				await client.query(`drop database ${schema}_empty with (force)`)
			}
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
			await serving([url(name)], assertServes, folderWith('mysql2'))
		})

		test('but for a view that has lost its table', async () => {
			await connection.query(`create table ${name}.gone (id int primary key);
				create view ${name}.broken as select id from ${name}.gone; drop table ${name}.gone`)
			try {
				await serving([url(name)], async ({ said, printed }) => {
					assert.match(printed[0] ?? '', /\n {2}not served: broken: .*references invalid table/)
					assert.is(await said('/titles'), '200 [{"title":"Verbena"}]')
				})
			} finally {
				await connection.query(`drop view ${name}.broken`)
			}
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
			try {
				assert.match(await refusal([url(`${name}_empty`)]), /has no tables that this user can see$/)
			} finally {
				await connection.query(`drop database ${name}_empty`)
			}
		})
	})

describe('the command verbena', (test) => {
	const command = (...words: string[]) => bundled(`${ROOT}/lib/cli/main.ts`, ...words)

	test('serves until it is told to stop', async () => {
		const file = join(folder, 'main.json')
		writeFileSync(file, '{"posts":[{"id":1}]}')
		const running = start({ args: await command(file, '--port', '0') })
		try {
			await untilPrinted(running, 'Stop: ')
			const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\/posts\?limit=3/.exec(running.output()) ?? []
			assert.is((await fetch(url)).status, 200)
			running.child.kill('SIGINT')
			assert.is(await running.ended, 0)
			assert.match(running.output(), /\nClosed\n$/)
		} finally {
			running.child.kill('SIGKILL')
		}
	})

	test('keeps serving when its output is no longer read, and ends as usual', async () => {
		const file = join(folderWith(), 'piped.json')
		const write = (name: string) => writeFileSync(file, JSON.stringify({ [name]: [{ id: 1 }] }))
		write('posts')
		const running = start({ args: await command(file, '--port', '0', '--watch') })
		try {
			await untilPrinted(running, 'Stop: ')
			const [url = ''] = /http:\/\/127\.0\.0\.1:\d+(?=\/posts\?)/.exec(running.output()) ?? []
			const { stdout } = running.child
			assert.ok(stdout)
			const closed = once(stdout, 'close')
			stdout.destroy()
			await closed
			// Is printed, and so is the end.
			for (const name of ['notes', 'pages']) {
				write(name)
				const told = () =>
					fetch(`${url}/${name}`).then(
						(response) => response.text(),
						() => '',
					)
				// The file is looked at every two seconds.
				await sleep(1_500)
				await until(async () => (await told()).includes('"success":true'), 'the change is served')
			}
			running.child.kill('SIGINT')
			assert.is(await running.ended, 0)
			assert.not.match(running.output(), 'EPIPE')
		} finally {
			running.child.kill('SIGKILL')
		}
	})

	test('ends with 1 and one line about the problem', async () => {
		const { code, output } = await run({ args: await command('nothing.db') })
		assert.is(code, 1)
		assert.match(output, /^There is no file nothing\.db in .*\n$/)
	})

	test('says what it takes, and its version', async () => {
		assert.match((await run({ args: await command('--help') })).output, /^Serves a database as a REST API\./)
		assert.match((await run({ args: await command('--version') })).output, /^\d+\.\d+\.\d+\n$/)
	})

	test('gives up a server that accepts connections and never answers', async () => {
		const silent = createNetServer().listen(0, '127.0.0.1')
		await new Promise((resolve) => silent.once('listening', resolve))
		const { port } = silent.address() as { port: number }
		try {
			for (const scheme of ['postgres', 'mysql']) {
				const { code, output } = await run({ args: await command(`${scheme}://u@127.0.0.1:${port}/d`) })
				assert.is(code, 1)
				assert.match(output, / does not answer: is the server running, and is this its port\?\n$/)
			}
		} finally {
			silent.close()
		}
	})

	test('says which port is taken, and which to try', async () => {
		const other = createNetServer().listen(0, '127.0.0.1')
		await new Promise((resolve) => other.once('listening', resolve))
		const { port } = other.address() as { port: number }
		const file = join(folder, 'taken.json')
		writeFileSync(file, '{"posts":[{"id":1}]}')
		const { code, output } = await run({ args: await command(file, '--port', String(port)) }).finally(() =>
			other.close(),
		)
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
