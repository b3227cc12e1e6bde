/** A database that is restarted under reads and writes, as clients see it over HTTP. */
import { setTimeout } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import * as assert from 'uvu/assert'
import { CrudHandler, type Model } from '../../../lib/index.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { listening } from '../../helpers/listening.ts'
import { mariadbIsHere, ownMariadb } from '../../helpers/mariadb.ts'
import { openDatabase, ownPostgres, ownPostgresHere } from '../../helpers/postgres.ts'
import { type Answer, ask, assertUnavailable, untilServed, withoutUnhandled } from './answers.ts'

/** The model's timeout of five seconds, plus slow event-loop turns; stalls excluded. Waiting twice would take ten. */
const LONGEST = 7_500

/** Clients that send requests one after the other, until they are stopped. */
class Load {
	readonly #url: string
	readonly #running: Promise<void>[]
	#isOver = false
	#wrote = 0
	readonly bad: Answer[] = []
	readonly created = new Map<string, number>()
	served = 0
	longest = 0

	constructor(url: string, clients: number) {
		this.#url = url
		this.#running = Array.from({ length: clients }, (_, at) => this.#go(at))
		// Awaited by `stop`; until then a failure must not count as an unhandled rejection.
		for (const one of this.#running) one.catch(() => {})
	}

	async stop(): Promise<void> {
		this.#isOver = true
		await Promise.all(this.#running)
	}

	async #go(at: number): Promise<void> {
		while (!this.#isOver) {
			const answer = await this.#one(at % 4)
			this.longest = Math.max(this.longest, answer.milliseconds)
			if (answer.status === 200 || answer.status === 201) this.served++
			else {
				this.bad.push(answer)
				// A read changes nothing, so its outcome is never unknown.
				assertUnavailable(answer, at % 4 < 2 ? /^unavailable$/ : /^(?:unavailable|outcome_unknown)$/)
				await setTimeout(50)
			}
		}
	}

	async #one(kind: number): Promise<Answer> {
		if (kind === 0) return rightly(await ask(`${this.#url}/1`), { id: 1, title: 'first' })
		if (kind === 1) return rightly(await ask(`${this.#url}?limit=1`), [{ id: 1, title: 'first' }])
		if (kind === 2) {
			const answer = await ask(`${this.#url}/2`, 'PUT', { title: 'second' })
			return rightly(answer, { id: 2, title: 'second' })
		}
		const title = `title ${this.#wrote++}`
		const answer = await ask(this.#url, 'POST', { title })
		if (answer.status === 201) {
			const { id } = answer.body.data as { id: number }
			rightly(answer, { id, title })
			this.created.set(title, id)
		}
		return answer
	}
}

function rightly(answer: Answer, data: unknown): Answer {
	if (answer.status === 200 || answer.status === 201) assert.equal(answer.body.data, data)
	return answer
}

/** A pause longer than the five seconds. */
const LONG = 6_500

/** The whole of it: load, stop, a pause, start, service. */
async function restarted(
	model: Model,
	stop: () => Promise<void>,
	start: () => Promise<void>,
	{ pause = 700, back: longestBack = 5_000 }: { readonly pause?: number; readonly back?: number } = {},
): Promise<void> {
	const article = new CrudHandler(model, {
		visible: ['id', 'title'],
		updatable: ['title'],
		allow: ['list', 'read', 'create', 'update', 'replace'],
		maxLimit: 100_000,
	})
	await withoutUnhandled(() =>
		listening({ article }, {}, async ({ url }) => {
			const site = `${url.replace(/\/$/, '')}/article`
			const load = new Load(site, 12)
			let back = 0
			let before = 0
			try {
				await setTimeout(200)
				await stop()
				await setTimeout(pause)
				await start()
				back = await untilServed(`${site}/1`, longestBack)
				before = load.served
				await setTimeout(300)
			} finally {
				// Reports the first failure, rather than what clients find once the server is gone.
				await load.stop()
			}
			assert.ok(back < longestBack)
			assert.ok(load.bad.length > 0, 'nobody has noticed')
			assert.ok(load.served > before, 'after the restart nobody was served')
			assert.ok(load.longest < LONGEST, `the longest took ${load.longest} ms`)
			const { body } = await ask(`${site}?limit=100000`)
			const records = body.data as readonly { id: number; title: string }[]
			const titles = records.map(({ title }) => title)
			assert.is(new Set(titles).size, titles.length, 'something was written twice')
			const ids = new Map(records.map(({ id, title }) => [title, id]))
			assert.equal(
				[...load.created].filter(([title, id]) => ids.get(title) !== id),
				[],
			)
		}),
	)
}

const FIRST = "insert into article (title) values ('first'), ('second')"
const EMPTIED = "delete from article where id > 2; update article set title = 'second' where id = 2"

// Both are awaited before the first suite is declared, as suites begin to run during any await.
const [isPostgresHere, isMariadbHere] = [await ownPostgresHere(), await mariadbIsHere()]

if (isPostgresHere) {
	describe('PostgreSQL, restarted under load', (test) => {
		let own: Awaited<ReturnType<typeof ownPostgres>>
		test.before(async () => {
			own = await ownPostgres()
			const { exec, close } = await openDatabase('pg', {}, { port: own.port })
			await exec(`create table article (id serial primary key, title text not null); ${FIRST}`)
			await close()
		})
		test.after(() => own.remove())

		for (const driver of ['pg', 'postgres.js'] as const) {
			// postgres.js waits three times longer before each attempt to connect: after four seconds up to seven more.
			const back = driver === 'pg' ? 5_000 : 12_000
			for (const mode of ['fast', 'immediate'] as const) {
				test(`${mode}, by ${driver}: answers are correct or 503, and no write is lost`, async () => {
					const { database, exec, close } = await openDatabase(driver, {}, { port: own.port })
					await exec(EMPTIED)
					const model = await PostgresModel.open(database, 'article')
					await restarted(model, () => own.stop(mode), own.start, { back })
					await close()
				})
			}

			test(`stopped for longer than the model's timeout, by ${driver}: no request waits longer than that`, async () => {
				const { database, exec, close } = await openDatabase(driver, {}, { port: own.port })
				await exec(EMPTIED)
				const model = await PostgresModel.open(database, 'article')
				await restarted(model, () => own.stop('fast'), own.start, { pause: LONG, back })
				await close()
			})
		}
	})
}

if (isMariadbHere) {
	describe('MariaDB, restarted under load', (test) => {
		let own: Awaited<ReturnType<typeof ownMariadb>>
		test.before(async () => {
			own = await ownMariadb()
			const pool = mysql.createPool(own.options)
			await pool.query(
				'create table article (id int auto_increment primary key, title varchar(100) not null)',
			)
			await pool.query(FIRST)
			await pool.end()
		})
		test.after(() => own.remove())

		for (const how of ['stop', 'kill'] as const) {
			test(`by ${how}: answers are correct or 503, and no write is lost`, async () => {
				const pool = mysql.createPool({ ...own.options, connectionLimit: 5 })
				for (const statement of EMPTIED.split('; ')) await pool.query(statement)
				const model = await MysqlModel.open(pool, 'article')
				await restarted(model, own[how], own.start)
				await pool.end()
			})
		}

		// A server that has stopped refuses connections at once; one that is frozen lets everybody wait.
		for (const how of ['stop', 'freeze'] as const) {
			test(`stopped for longer than the model's timeout, by ${how}: no request waits longer than that`, async () => {
				const pool = mysql.createPool({ ...own.options, connectionLimit: 5 })
				for (const statement of EMPTIED.split('; ')) await pool.query(statement)
				const model = await MysqlModel.open(pool, 'article')
				const start = how === 'stop' ? own.start : async () => own.thaw()
				await restarted(model, own[how], start, { pause: LONG })
				await pool.end()
			})
		}
	})
}
