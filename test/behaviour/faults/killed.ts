/**
 * Repeatedly kills a program that serves articles while it writes, and checks that confirmed writes are stored, and lists of
 * records, and articles with their comments, as a whole or not at all.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import Libsql from 'libsql'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { bundled } from '../../helpers/bundled.ts'
import { openPool } from '../../helpers/mariadb.ts'
import { SERVER } from '../../helpers/postgres.ts'
import { ROOT, type Running, start, untilPrinted } from '../../helpers/program.ts'
import { ask } from './answers.ts'

const WRITERS = 8
/** Writers of articles with comments. */
const PARENTS = 4
/** Records of a list, and comments of an article. */
const PLACES = [0, 1, 2] as const

/** What is done with each list, one after the other. */
const STEPS = ['create or upsert', 'update', 'remove'] as const

/** Lists by the beginning of their titles, with the number of confirmed steps. */
type Lists = Map<string, number>

/** Ids of single records by their titles, and what else was written. */
interface Written {
	readonly singles: Map<string, string>
	readonly lists: Lists
	readonly families: Families
}

/** Titles of articles with comments, and whether they are confirmed. */
type Families = Map<string, boolean>

/** All rounds use one table: each is killed at another moment, and the next checks everything confirmed so far. */
export async function killedRounds(rounds: number, args: readonly string[]): Promise<void> {
	const written: Written = { singles: new Map(), lists: new Map(), families: new Map() }
	const { singles, lists, families } = written
	for (let round = 0; round < rounds; round++) {
		await launched(args, async (url, kill) => {
			await assertKept(url, written)
			const writers = [
				write(url, round, singles),
				writeLists(url, round, lists),
				writeFamilies(url, round, families),
			]
			const over = Promise.all(writers)
			// Awaited below; until then a failure must not count as an unhandled rejection.
			over.catch(() => {})
			// By number of confirmed writes, not by time, as a busy machine writes little; others are in flight then.
			const enough = [
				singles.size + 5 + ((round * 37) % 30),
				stepsOf(lists) + 3 * WRITERS,
				confirmedOf(families) + PARENTS,
			]
			const counts = () => [singles.size, stepsOf(lists), confirmedOf(families)]
			await isWritten(() => counts().every((count, at) => count >= (enough[at] ?? 0)), over)
			await kill()
			await over
		})
	}
	await launched(args, (url) => assertKept(url, written))
	for (const [step, name] of STEPS.entries())
		assert.ok([...lists.values()].filter((steps) => steps > step).length >= rounds, `too few lists: ${name}`)
	assert.ok(singles.size >= rounds * 5, `only ${singles.size} were written in ${rounds} rounds`)
	assert.ok(confirmedOf(families) >= rounds * PARENTS, `too few with comments: ${confirmedOf(families)}`)
}

/** Waits for enough confirmed writes; rejects when `over` does. */
async function isWritten(isEnough: () => boolean, over: Promise<unknown>): Promise<void> {
	const until = performance.now() + 120_000
	while (!isEnough()) {
		assert.ok(performance.now() < until, 'too little was written in two minutes')
		await Promise.race([setTimeout(1), over.then(() => setTimeout(1))])
	}
}

/** Number of confirmed steps of all lists. */
function stepsOf(lists: Lists): number {
	return [...lists.values()].reduce((sum, steps) => sum + steps, 0)
}

/** Number of confirmed articles with comments. */
function confirmedOf(families: Families): number {
	return [...families.values()].filter(Boolean).length
}

/** Starts the program, and kills it in any case after `use`: otherwise this process and its writers would not exit. */
async function launched(
	args: readonly string[],
	use: (url: string, kill: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
	const running: Running = start({
		args: await bundled(`${ROOT}/test/behaviour/faults/killed-server.ts`, ...args),
	})
	const kill = () => {
		running.child.kill('SIGKILL')
		return running.ended
	}
	try {
		await untilPrinted(running, '.\n')
		const [, url = ''] = /serving (\S+)\.\n/.exec(running.output()) ?? []
		await use(url.replace(/\/$/, ''), kill)
	} finally {
		await kill()
	}
}

/** Several writers, each with its own names, until the program is gone; records what was answered 201. */
async function write(url: string, round: number, promised: Map<string, string>): Promise<void> {
	const writer = async (at: number): Promise<void> => {
		for (let count = 0; ; count++) {
			const title = `${round}-${at}-${count}`
			const answer = await ask(`${url}/article`, 'POST', { title }).catch(() => undefined)
			if (answer === undefined) return
			assert.is(answer.status, 201, answer.text)
			promised.set(title, String((answer.body.data as { id: number }).id))
		}
	}
	await Promise.all(Array.from({ length: WRITERS }, (_, at) => writer(at)))
}

/** The same with lists, each of which goes through the steps. */
async function writeLists(url: string, round: number, lists: Lists): Promise<void> {
	const writer = async (at: number): Promise<void> => {
		for (let count = 0; ; count++) {
			const list = `list ${round}-${at}-${count}`
			lists.set(list, 0)
			const titles = PLACES.map((place) => `${list}.${place}`)
			const all = titles.map((title) => ({ title }))
			const created =
				count % 2 === 0 ? ask(`${url}/article`, 'POST', all) : ask(`${url}/article?on=title`, 'PUT', all)
			const made = await created.catch(() => undefined)
			if (made === undefined) return
			assert.ok(made.status < 202, made.text)
			lists.set(list, 1)
			const ids = (made.body.data as readonly { id: number }[]).map(({ id }) => id)
			const changes = ids.map((id, place) => ({ id, title: `${titles[place]}!` }))
			if (!(await isDone(ask(`${url}/article`, 'PATCH', changes)))) return
			lists.set(list, 2)
			if (!(await isDone(ask(`${url}/article?id[in]=${ids.join()}`, 'DELETE')))) return
			lists.set(list, 3)
		}
	}
	await Promise.all(Array.from({ length: WRITERS }, (_, at) => writer(at)))
}

/** The same with articles that come with their comments: nested, and by a method's own transaction. */
async function writeFamilies(url: string, round: number, families: Families): Promise<void> {
	const writer = async (at: number): Promise<void> => {
		for (let count = 0; ; count++) {
			const title = `parent ${round}-${at}-${count}`
			families.set(title, false)
			const path = count % 2 === 0 ? 'article' : 'article/transaction'
			const comments = PLACES.map((place) => ({ text: `${title}.${place}` }))
			const answer = await ask(`${url}/${path}`, 'POST', { title, comments }).catch(() => undefined)
			if (answer === undefined) return
			assert.is(answer.status, 201, answer.text)
			families.set(title, true)
		}
	}
	await Promise.all(Array.from({ length: PARENTS }, (_, at) => writer(at)))
}

/** Whether there was an answer before the program was killed. */
async function isDone(asked: ReturnType<typeof ask>): Promise<boolean> {
	const answer = await asked.catch(() => undefined)
	if (answer !== undefined) assert.is(answer.status, 200, answer.text)
	return answer !== undefined
}

interface Article {
	readonly id: number
	readonly title: string
}

interface Comment {
	readonly article: number
	readonly text: string
}

/**
 * All articles and comments of one moment: a database may go on with what a killed program has sent last, and both are read
 * again until nothing has come between.
 */
async function stored(url: string): Promise<{ articles: readonly Article[]; comments: readonly Comment[] }> {
	const list = async (of: string) => {
		const { status, body, text } = await ask(`${url}/${of}?limit=100000`)
		assert.is(status, 200, text)
		return { text, data: body.data }
	}
	for (let before = await list('article'); ; ) {
		const comments = await list('comment')
		const after = await list('article')
		if (after.text === before.text)
			return { articles: after.data as readonly Article[], comments: comments.data as readonly Comment[] }
		before = after
	}
}

/** Every confirmed record is stored under its id, and none twice; of a list, and of an article with comments, all or none. */
async function assertKept(url: string, { singles, lists, families }: Written): Promise<void> {
	const { articles, comments } = await stored(url)
	const ids = new Map(articles.map(({ id, title }) => [title, String(id)]))
	assert.is(ids.size, articles.length, 'a title is there twice')
	assert.equal(
		[...singles].filter(([title, id]) => ids.get(title) !== id),
		[],
	)
	assertLists(ids, lists)
	const texts = new Map<string, string[]>()
	for (const { article, text } of comments)
		texts.set(String(article), [...(texts.get(String(article)) ?? []), text])
	for (const [title, isConfirmed] of families) {
		const id = ids.get(title)
		assert.ok(id !== undefined || !isConfirmed, `${title} is lost`)
		if (id === undefined) continue
		assert.equal(
			texts.get(id)?.toSorted(),
			PLACES.map((place) => `${title}.${place}`),
		)
		texts.delete(id)
		families.set(title, true)
	}
	assert.equal([...texts.values()], [], 'comments without their article')
}

function assertLists(ids: ReadonlyMap<string, string>, lists: Lists): void {
	for (const [list, confirmed] of lists) {
		const found = PLACES.map((place) =>
			[`${list}.${place}`, `${list}.${place}!`].map((title) => ids.has(title)),
		)
		assert.is(new Set(found.map(String)).size, 1, `of ${list} some: ${found}`)
		const [isCreated, isChanged] = found[0] ?? []
		const steps = isCreated ? 1 : isChanged ? 2 : confirmed > 1 ? 3 : 0
		// The step after the confirmed ones may have been done before the kill, but not later.
		assert.ok(
			steps === confirmed || steps === confirmed + 1,
			`${list}: ${confirmed} confirmed, ${steps} found`,
		)
		lists.set(list, steps)
	}
}

/** A temporary database file with an empty table. */
export async function killedOnSqlite(rounds: number): Promise<void> {
	const folder = await mkdtemp(join(tmpdir(), 'verbena-killed-'))
	try {
		const file = join(folder, 'blog.db')
		const database = new Libsql(file)
		database.exec(
			`pragma journal_mode = wal; create table article (id integer primary key, title text unique);
			create table article_comment (id integer primary key, text text, article int references article (id))`,
		)
		database.close()
		await killedRounds(rounds, ['sqlite', file])
		const after = new Libsql(file)
		const [[integrity]] = after.prepare('pragma integrity_check').raw().all() as [[string]]
		assert.is(integrity, 'ok')
		after.close()
	} finally {
		await rm(folder, { recursive: true, force: true })
	}
}

/** The same in a table of the existing PostgreSQL. */
export async function killedOnPostgres(rounds: number): Promise<void> {
	const client = new pg.Client(SERVER)
	await client.connect()
	const table = `faults_killed_${process.pid}`
	try {
		await client.query(`create table ${table} (id serial primary key, title text unique)`)
		await client.query(
			`create table ${table}_comment (id serial primary key, text text, article int references ${table} (id))`,
		)
		await killedRounds(rounds, ['postgres', table])
	} finally {
		await client.query(`drop table if exists ${table}_comment, ${table}`)
		await client.end()
	}
}

/** The same in a table of the existing MariaDB. */
export async function killedOnMariadb(rounds: number): Promise<void> {
	const pool = openPool({}, { connectionLimit: 1 })
	const table = `faults_killed_${process.pid}`
	const id = 'id int auto_increment primary key'
	try {
		await pool.query(`create table ${table} (${id}, title varchar(100) unique)`)
		await pool.query(
			`create table ${table}_comment (${id}, text varchar(100), article int, foreign key (article) references ${table} (id))`,
		)
		await killedRounds(rounds, ['mariadb', table])
	} finally {
		await pool.query(`drop table if exists ${table}_comment, ${table}`)
		await pool.end()
	}
}
