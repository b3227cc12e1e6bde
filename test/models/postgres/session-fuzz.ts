/**
 * Users in parallel, in sessions of their own, while connections are killed and statements time out: nobody ever sees
 * another user's record, and no connection keeps anything. Called by `session-fuzz.test.ts` and `session-fuzz.long.ts`.
 */
import pg from 'pg'
import * as assert from 'uvu/assert'
import type { Model } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { ownBouncer } from '../../helpers/pgbouncer.ts'
import { type DriverName, openDatabase, SERVER, untilOpened } from '../../helpers/postgres.ts'
import { ALL, assertClean, FREE, quoted, SELECTION, WEB } from './session-tables.ts'

export interface Fuzz {
	readonly driver: DriverName
	/** Behind a PgBouncer in transaction mode. */
	readonly pooled: boolean
	/** Whether connections are killed meanwhile. */
	readonly kills: boolean
	readonly users: number
	/** Requests at the same time, and rounds of them. */
	readonly requests: number
	readonly rounds: number
	random(): number
}

const CONNECTIONS = 5
/** The name of the connections that aren't killed. */
const KEPT = 'verbena_kept'

/** Each user has records 1000 × user + 1 to 5, each with the owner's name; all strict: there are no public ones. */
function tableSql(table: string, users: number): string {
	return `
		drop table if exists ${table};
		create table ${table} (id int primary key, owner text not null default current_setting('app.user'), a int);
		insert into ${table} select u * 1000 + n, 'user ' || u, n
			from generate_series(1, ${users}) u, generate_series(1, 5) n;
		alter table ${table} enable row level security;
		create policy own on ${table} using (owner = current_setting('app.user', true));
		create or replace view ${table}_slow with (security_invoker) as
			select id, owner, a, pg_sleep(0.4)::text as waited from ${table};
		grant select, insert, update, delete on ${table}, ${table}_slow to ${quoted(WEB)};`
}

interface Counts {
	done: number
	failed: number
}

/** Runs the requests. @returns how many were answered, and how many failed for lack of a connection or of time */
export async function fuzzSessions(table: string, fuzz: Fuzz): Promise<Counts> {
	const { driver, pooled, users } = fuzz
	const bouncer = pooled ? await ownBouncer(['default_pool_size = 3']) : undefined
	const direct = await openDatabase('pg', { application_name: KEPT })
	const port = bouncer?.port ?? SERVER.port
	const opening = { max: CONNECTIONS, port, database: SERVER.database, prepare: !pooled }
	const opened = await openDatabase(driver, {}, opening)
	const clean = () => assertClean(opened, CONNECTIONS)
	const admin = new pg.Client(SERVER)
	await admin.connect()
	const counts = { done: 0, failed: 0 }
	try {
		await direct.exec(tableSql(table, users))
		const { database } = opened
		const model = await untilOpened(() => PostgresModel.open(database, table, { timeoutSeconds: 5 }))
		const slow = await untilOpened(() =>
			PostgresModel.open(database, `${table}_slow`, { timeoutSeconds: 0.4, key: 'id' }),
		)
		for (let round = 0; round < fuzz.rounds; round++) {
			const work = Promise.allSettled(
				Array.from({ length: fuzz.requests }, () => requestOf(model, slow, fuzz, counts)),
			)
			if (fuzz.kills) await killSome(admin, table, 3)
			for (const result of await work) if (result.status === 'rejected') throw result.reason
		}
		await untilOpened(() => model.list(ALL))
		await clean()
	} finally {
		await admin.end()
		await opened.close()
		await bouncer?.remove()
		await direct.exec(`drop view if exists ${table}_slow; drop table if exists ${table}`)
		await direct.close()
	}
	return counts
}

async function killSome(admin: pg.Client, table: string, times: number): Promise<void> {
	for (let at = 0; at < times; at++) {
		await new Promise((resolve) => setTimeout(resolve, 20))
		await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
			where pid <> pg_backend_pid() and application_name <> '${KEPT}' and query like '%${table}%'
			order by random() limit 1`)
	}
}

/** One request of a random user. Asserts that it sees only its own records. */
async function requestOf(
	model: PostgresModel,
	slow: PostgresModel,
	fuzz: Fuzz,
	counts: Counts,
): Promise<void> {
	const pick = (count: number) => 1 + Math.floor(fuzz.random() * count)
	const user = pick(fuzz.users)
	const session = { role: WEB, settings: { 'app.user': `user ${user}` } }
	const own = model.withSession(session)
	const mine = `${user * 1000 + pick(5)}`
	const any = `${pick(fuzz.users) * 1000 + pick(5)}`
	const seen = (json: string) => assertOwn(json, user)
	const works = [
		async () => seen((await own.list(ALL)).json),
		async () => {
			const found = await own.read(any, SELECTION, undefined)
			assert.is(found !== undefined, Math.floor(Number(any) / 1000) === user)
			if (found !== undefined) seen(`[${found.json}]`)
		},
		async () => assert.is(await own.count(undefined), 5),
		async () => {
			const changed = await own.update(any, { a: pick(100) }, SELECTION, FREE)
			assert.is(changed === 'missing', Math.floor(Number(any) / 1000) !== user)
			if (typeof changed === 'object') seen(`[${changed.json}]`)
		},
		async () => {
			const other = `user ${(user % fuzz.users) + 1}`
			const error = await own.update(mine, { owner: other }, SELECTION, FREE).catch((error) => error)
			if (!(error instanceof ModelError)) assert.unreachable(`gave a record away: ${JSON.stringify(error)}`)
			if (error.kind !== 'forbidden') throw error
		},
		async () => {
			await own.transaction(async (inner: Model) => {
				seen((await inner.list(ALL)).json)
				await new Promise((resolve) => setImmediate(resolve))
				assert.is(await inner.count(undefined), 5)
			})
		},
		async () => {
			const page = await slow.withSession(session).list({ ...ALL, limit: 1, total: false })
			seen(page.json)
		},
	]
	try {
		await works[Math.floor(fuzz.random() * works.length)]?.()
		counts.done++
	} catch (error) {
		const isFault = error instanceof ModelError && /^(?:unavailable|outcome_unknown|busy)$/.test(error.kind)
		if (!isFault) throw error
		counts.failed++
	}
}

function assertOwn(json: string, user: number): void {
	const records = JSON.parse(json) as { id: number; owner: string }[]
	assert.ok(records.length > 0, 'there are own records')
	for (const { id, owner } of records) {
		assert.is(owner, `user ${user}`)
		assert.is(Math.floor(id / 1000), user)
	}
}

/** Numbers from 0 to below 1, the same for the same seed: mulberry32. */
export function randomOf(seed: number): () => number {
	let state = seed
	return () => {
		state = (state + 0x6d2b79f5) | 0
		let mixed = Math.imul(state ^ (state >>> 15), state | 1)
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
	}
}
