/** Repeatedly kills a program that serves articles while it writes, and checks that confirmed writes are stored. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import Libsql from 'libsql'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { bundled } from '../../helpers/bundled.ts'
import { SERVER } from '../../helpers/postgres.ts'
import { ROOT, type Running, start, untilPrinted } from '../../helpers/program.ts'
import { ask } from './answers.ts'

const WRITERS = 8

/** All rounds use one table: each is killed at another moment, and the next checks everything confirmed so far. */
export async function killedRounds(rounds: number, args: readonly string[]): Promise<void> {
	const promised = new Map<string, string>()
	for (let round = 0; round < rounds; round++) {
		await launched(args, async (url, kill) => {
			await assertKept(url, promised)
			const over = write(url, round, promised)
			// Awaited below; until then a failure must not count as an unhandled rejection.
			over.catch(() => {})
			// By number of confirmed writes, not by time, as a busy machine writes little; others are in flight then.
			await written(promised, promised.size + 5 + ((round * 37) % 30), over)
			await kill()
			await over
		})
	}
	await launched(args, (url) => assertKept(url, promised))
	assert.ok(promised.size >= rounds * 5, `only ${promised.size} were written in ${rounds} rounds`)
}

/** Waits for so many confirmed writes; rejects when `over` does. */
async function written(
	promised: ReadonlyMap<string, string>,
	count: number,
	over: Promise<void>,
): Promise<void> {
	const until = performance.now() + 120_000
	while (promised.size < count) {
		assert.ok(performance.now() < until, `only ${promised.size} of ${count} were written in two minutes`)
		await Promise.race([setTimeout(1), over.then(() => setTimeout(1))])
	}
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

/** Every confirmed record is stored under its id, and none twice. */
async function assertKept(url: string, promised: ReadonlyMap<string, string>): Promise<void> {
	const { status, body, text } = await ask(`${url}/article?limit=100000`)
	assert.is(status, 200, text)
	const records = body.data as readonly { id: number; title: string }[]
	const ids = new Map(records.map(({ id, title }) => [title, String(id)]))
	assert.is(ids.size, records.length, 'a title is there twice')
	assert.equal(
		[...promised].filter(([title, id]) => ids.get(title) !== id),
		[],
	)
}

/** A temporary database file with an empty table. */
export async function killedOnSqlite(rounds: number, synchronous: 'full' | 'normal'): Promise<void> {
	const folder = await mkdtemp(join(tmpdir(), 'verbena-killed-'))
	try {
		const file = join(folder, 'blog.db')
		const database = new Libsql(file)
		database.exec('pragma journal_mode = wal; create table article (id integer primary key, title text)')
		database.close()
		await killedRounds(rounds, ['sqlite', file, synchronous])
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
		await client.query(`create table ${table} (id serial primary key, title text)`)
		await killedRounds(rounds, ['postgres', table])
	} finally {
		await client.query(`drop table ${table}`)
		await client.end()
	}
}
