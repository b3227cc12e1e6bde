/** A server that stops and comes back: errors in bounded time, and requests succeed again soon after. */
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import * as assert from 'uvu/assert'
import type { Model, Selection } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { type OwnPostgres, openDatabase, ownPostgres, ownPostgresHere } from '../../helpers/postgres.ts'

const SELECTION: Selection = { fields: ['id', 'title'], names: ['id', 'title'], version: undefined }

/** Results of requests that are sent one after the other, until they are stopped. */
class Load {
	readonly seen = new Map<string, number>()
	longest = 0
	#isOver = false
	readonly #running: Promise<unknown>

	constructor(model: Model, many: number) {
		this.#running = Promise.all(Array.from({ length: many }, (_, at) => this.#ask(model, at)))
	}

	async #ask(model: Model, at: number): Promise<void> {
		while (!this.#isOver) {
			const started = performance.now()
			const answer = await (at % 2 === 0
				? model.read('1', SELECTION, undefined)
				: model.create({ title: 'x' }, SELECTION)
			).then(
				(found) => (found === undefined ? 'nothing' : 'found'),
				(error: unknown) => (error instanceof ModelError ? error.kind : String(error)),
			)
			this.longest = Math.max(this.longest, performance.now() - started)
			this.seen.set(answer, (this.seen.get(answer) ?? 0) + 1)
			if (answer !== 'found') await setTimeout(5)
		}
	}

	async stop(): Promise<void> {
		this.#isOver = true
		await this.#running
	}
}

async function untilServed(model: Model): Promise<number> {
	const started = performance.now()
	for (;;) {
		const found = await model.read('1', SELECTION, undefined).catch(() => undefined)
		if (found !== undefined) return performance.now() - started
		assert.ok(performance.now() - started < 10_000, 'there is no service after 10 s')
		await setTimeout(20)
	}
}

const drivers = (await ownPostgresHere()) ? (['pg', 'postgres.js'] as const) : []

if (drivers.length > 0) {
	describe('a PostgreSQL server that stops', (test) => {
		let own: OwnPostgres

		test.before(async () => {
			own = await ownPostgres()
			const client = new pg.Client({
				host: '127.0.0.1',
				port: own.port,
				user: 'postgres',
				database: 'postgres',
			})
			await client.connect()
			await client.query(
				"create table article (id serial primary key, title text); insert into article (title) values ('a')",
			)
			await client.end()
		})
		test.after(() => own.remove())

		for (const name of drivers) {
			for (const mode of ['fast', 'immediate'] as const) {
				test(`${mode}, under load by ${name}, is unavailable, and requests succeed as soon as it is back`, async () => {
					const { database, close } = await openDatabase(name, {}, { port: own.port })
					const model = await PostgresModel.open(database, 'article')
					const load = new Load(model, 8)
					await setTimeout(100)
					await own.stop(mode)
					// Long enough for a driver's own timeout.
					await setTimeout(1500)
					await own.start()
					const after = await untilServed(model)
					await setTimeout(100)
					await load.stop()
					await close()
					const kinds = [...load.seen.keys()].sort()
					assert.ok(load.seen.has('found') && load.seen.has('unavailable'), kinds.join())
					assert.equal(
						kinds.filter((kind) => !/^(?:found|unavailable|outcome_unknown)$/.test(kind)),
						[],
					)
					assert.ok(after < 5000, `served after ${after} ms`)
					assert.ok(load.longest < 5500, `the longest took ${load.longest} ms`)
				})
			}

			test(`while idle by ${name} goes unnoticed`, async () => {
				const { database, close } = await openDatabase(name, {}, { port: own.port })
				const model = await PostgresModel.open(database, 'article')
				assert.ok((await model.read('1', SELECTION, undefined)) !== undefined)
				await own.restart('fast')
				await setTimeout(50)
				assert.ok((await untilServed(model)) < 1000)
				await close()
			})

			test(`can't be opened by ${name}, with the reason as the cause`, async () => {
				const { database, close } = await openDatabase(name, {}, { port: 1 })
				const error = await PostgresModel.open(database, 'article').then(
					() => undefined,
					(error: unknown) => error,
				)
				assert.instance(error, Error)
				// It has just been seen to be one.
				const { code, cause } = error as Error & { code?: string; cause?: { code?: string } }
				assert.is(cause?.code ?? code, 'ECONNREFUSED')
				await close()
			})
		}
	})
}
