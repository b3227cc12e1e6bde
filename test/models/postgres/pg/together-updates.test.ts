/** Updates through pg that wait at the same time share a transaction, or even a statement; none fails or waits because of another. */
import pg from 'pg'
import * as assert from 'uvu/assert'
import type { Changes, Guard } from '../../../../lib/models/model.ts'
import { ModelError } from '../../../../lib/models/model-error.ts'
import { PostgresModel } from '../../../../lib/models/postgres/model.ts'
import { PgStatement } from '../../../../lib/models/postgres/pg/statement.ts'
import { describe } from '../../../helpers/describe.ts'
import { driversHere, SERVER } from '../../../helpers/postgres.ts'
import { stopwatch } from '../../../helpers/stalls.ts'

const TABLES = `
	drop table if exists pgad_updated, pgad_updated_triggered, pgad_updated_spelled;
	create table pgad_updated (id text primary key, name text unique check (name <> 'bad'), version int not null default 1);
	create table pgad_updated_spelled (id uuid primary key, name text, version int not null default 1);
	alter table pgad_updated_spelled enable row level security;
	create policy everyone on pgad_updated_spelled using (true);
	create table pgad_updated_triggered (id text primary key, name text, version int not null default 1);
	create or replace function pgad_updated_touch() returns trigger language plpgsql as 'begin return new; end';
	create trigger pgad_updated_touch before update on pgad_updated_triggered
		for each row execute function pgad_updated_touch();`
const DROP = `drop table pgad_updated, pgad_updated_triggered, pgad_updated_spelled; drop function pgad_updated_touch`
const SELECTION = { fields: ['id', 'name', 'version'], names: ['id', 'name', 'version'], version: 'version' }
const ANY: Guard = { where: undefined, version: undefined }

if ((await driversHere()).includes('pg'))
	describe('batched updates', (test) => {
		const observer = new pg.Pool({ ...SERVER, max: 2 })
		let pools: pg.Pool[] = []

		const open = (table = 'pgad_updated', options?: string) => {
			const pool = new pg.Pool({ ...SERVER, max: 3, ...(options === undefined ? {} : { options }) })
			pools.push(pool)
			return PostgresModel.open(pool, table, { timeoutSeconds: 60 })
		}
		const ids = (count: number) => Array.from({ length: count }, (_, at) => `r${at}`)
		/** The name after the update, what it has found instead, or the kind of its error. */
		const update = async (model: PostgresModel, id: string, changes: Changes, guard = ANY) => {
			try {
				const found = await model.update(id, changes, SELECTION, guard)
				return typeof found === 'string' ? found : String((JSON.parse(found.json) as { name: unknown }).name)
			} catch (error) {
				return error instanceof ModelError ? error.kind : String(error)
			}
		}
		/** The numbers of transactions, and of statements, that have written the records. */
		const written = async (table = 'pgad_updated') => {
			const { rows } = await observer.query({
				text: `select count(distinct xmin::text)::int, count(distinct (xmin::text, cmin::text))::int from ${table}
					where version > 1`,
				rowMode: 'array',
			})
			return rows[0] as [number, number]
		}

		test.before(async () => void (await observer.query(TABLES)))
		test.before.each(async () => {
			for (const table of ['pgad_updated', 'pgad_updated_triggered'])
				await observer.query(
					`truncate ${table}; insert into ${table} (id, name) select 'r' || i, 'n' || i from generate_series(0, 99) i
						order by md5(i::text)`,
				)
		})
		test.after.each(async () => {
			await Promise.all(pools.map((pool) => pool.end()))
			pools = []
		})
		test.after(async () => {
			await observer.query(DROP)
			await observer.end()
		})

		test('each returns its own record, in fewer statements', async () => {
			const model = await open()
			const answers = await Promise.all(ids(100).map((id) => update(model, id, { name: `new ${id}` })))
			assert.equal(
				answers,
				ids(100).map((id) => `new ${id}`),
			)
			const [transactions, statements] = await written()
			assert.ok(statements < 50, `${statements} statements`)
			assert.is(statements, transactions)
		})

		test('one that is refused, missing or stale does not fail its batch', async () => {
			const model = await open()
			const wrong: Record<string, [Changes, string, Guard?]> = {
				r10: [{ name: 'bad' }, 'check'],
				r20: [{ name: 'n99' }, 'unique'],
				r30: [{ name: 'x' }, 'stale', { where: undefined, version: '7' }],
				gone: [{ name: 'x' }, 'missing'],
			}
			const all = [...ids(60), 'gone']
			const answers = await Promise.all(
				all.map((id) => update(model, id, wrong[id]?.[0] ?? { name: `new ${id}` }, wrong[id]?.[2])),
			)
			assert.equal(
				answers,
				all.map((id) => wrong[id]?.[1] ?? `new ${id}`),
			)
		})

		test('those of one record come one after the other', async () => {
			const model = await open()
			await Promise.all(ids(60).map((_, at) => update(model, 'r5', { name: `at ${at}` })))
			const { rows } = await observer.query("select version from pgad_updated where id = 'r5'")
			assert.is(rows[0].version, 61)
			const answers = await Promise.all(
				ids(30).map((_, at) => update(model, 'r5', { name: `v${at}` }, { where: undefined, version: '61' })),
			)
			assert.is(answers.filter((answer) => answer === 'stale').length, 29)
		})

		test('a table with triggers has each update in its own transaction', async () => {
			const model = await open('pgad_updated_triggered')
			await Promise.all(ids(40).map((id) => update(model, id, { name: 'x' })))
			assert.equal(await written('pgad_updated_triggered'), [40, 40])
		})

		test('two spellings of an id are one record, which both change', async () => {
			// Of a table with policies, what has changed nothing isn't tried again by the model: it would be refused.
			const model = await open('pgad_updated_spelled')
			const id = '0b9c4f5e-6a1d-4c3e-8f00-0123456789ab'
			const others = ids(20).map((_, at) => id.replace(/..$/, String(at + 10)))
			for (const one of [id, ...others])
				await observer.query('insert into pgad_updated_spelled (id) values ($1)', [one])
			for (let round = 0; round < 3; round++) {
				const all = [...others, id, id.toUpperCase()]
				assert.equal(await Promise.all(all.map((one) => update(model, one, { name: one }))), all)
			}
			const { rows } = await observer.query('select version from pgad_updated_spelled where id = $1', [id])
			assert.is(rows[0].version, 7)
		})

		test('two processes that update the same records never wait for each other in a circle', async () => {
			// Where the planner joins in the order of the table; with ids that come twice, one statement can't have all.
			const options = '-c enable_nestloop=off -c enable_mergejoin=off -c synchronous_commit=off'
			const models = await Promise.all([open('pgad_updated', options), open('pgad_updated', options)])
			const { handleError } = PgStatement.prototype
			const errors: unknown[] = []
			PgStatement.prototype.handleError = function (error) {
				errors.push(error)
				handleError.call(this, error)
			}
			try {
				for (let round = 0; round < 30; round++) {
					const answers = await Promise.all(
						models.flatMap((model, which) =>
							(which === 0 ? ids(32) : ids(32).flatMap((id) => [id, id])).map((id) =>
								update(model, id, { name: `${round} ${id}` }),
							),
						),
					)
					assert.equal(
						[...new Set(answers)].sort(),
						ids(32)
							.map((id) => `${round} ${id}`)
							.sort(),
					)
				}
			} finally {
				PgStatement.prototype.handleError = handleError
			}
			assert.equal(errors, [])
		})

		test('a record that is locked delays the others for only part of the timeout', async () => {
			const holder = await observer.connect()
			try {
				const model = await open()
				await Promise.all(ids(3).map((id) => update(model, id, { name: `first ${id}` })))
				await holder.query(`begin; update pgad_updated set name = 'held' where id = 'r50'`)
				const took = stopwatch()
				const locked: Promise<string>[] = []
				const others = await Promise.all(
					ids(100).flatMap((id) => {
						const answer = update(model, id, { name: `new ${id}` })
						if (id !== 'r50') return [answer]
						locked.push(answer)
						return []
					}),
				)
				assert.is(others.filter((name) => name.startsWith('new ')).length, 99)
				// Of the minute that each has.
				assert.ok(took() < 10_000, `${took()} ms`)
				await holder.query('commit')
				assert.equal(await Promise.all(locked), ['new r50'])
			} finally {
				holder.release(true)
			}
		})
	})
