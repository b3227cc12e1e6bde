/**
 * Measures the cost of `session()`: requests without a socket to one table, without a session, with one, and with a session
 * written by hand as four statements. Run it with nothing else on the machine, and PostgreSQL at PGHOST:
 *
 *     node --import tsx bench/session.ts
 */
import pg from 'pg'
import { CrudHandler, createServer, RestHandler } from '../lib/index.ts'
import { PostgresModel } from '../lib/models/postgres/model.ts'

const SERVER = { host: process.env.PGHOST ?? '127.0.0.1', user: process.env.PGUSER ?? 'postgres' }
const [CONCURRENT, REQUESTS, ROUNDS, USERS] = [32, 2_000, 9, 20]
const TABLE = 'bench_session_note'
const ROLE = 'bench_session_user'

const pool = new pg.Pool({ ...SERVER, database: process.env.PGDATABASE ?? 'test', max: 8 })
await pool.query(`
	drop table if exists ${TABLE}; drop role if exists ${ROLE}; create role ${ROLE};
	create table ${TABLE} (id int primary key, owner int not null, text text not null);
	insert into ${TABLE} select n, n % ${USERS}, 'Text of note ' || n from generate_series(0, 9999) n;
	create index on ${TABLE} (owner, id);
	alter table ${TABLE} enable row level security; grant select on ${TABLE} to ${ROLE};
	create policy own on ${TABLE} using (owner = (select current_setting('app.user', true)::int));
	analyze ${TABLE};`)

/** The user of a request. */
function userOf({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): number {
	return Number(headers.user)
}

class Scoped extends CrudHandler {
	override scope() {
		return { owner: userOf(this.request) }
	}
}

class InSession extends CrudHandler {
	override session() {
		return { role: ROLE, settings: { 'app.user': String(userOf(this.request)) } }
	}
}

class ByHand extends RestHandler {
	async get__default(id: string) {
		const client = await pool.connect()
		try {
			await client.query('begin read only')
			await client.query(`select set_config('role', $1, true), set_config('app.user', $2, true)`, [
				ROLE,
				String(userOf(this.request)),
			])
			const { rows } = await client.query(`select id, owner, text from ${TABLE} where id = $1`, [id])
			await client.query('commit')
			return rows[0]
		} finally {
			client.release()
		}
	}
}

const model = await PostgresModel.open(pool, TABLE)
const server = createServer({
	none: new CrudHandler(model, { visible: 'all' }),
	scope: new Scoped(model, { visible: 'all' }),
	session: new InSession(model, { visible: 'all' }),
	hand: new ByHand(),
})

/** Microseconds per request of a round. */
async function round(path: (user: number, at: number) => string): Promise<number> {
	const numbers = Array.from({ length: REQUESTS }, (_, at) => at).values()
	const begin = performance.now()
	const worker = async () => {
		for (const at of numbers) {
			const user = at % USERS
			const { status, text } = await server.inject({ url: path(user, at), headers: { user: String(user) } })
			if (status !== 200) throw new Error(`${path(user, at)}: ${status} ${text()}`)
		}
	}
	await Promise.all(Array.from({ length: CONCURRENT }, worker))
	return ((performance.now() - begin) * 1_000) / REQUESTS
}

const own = (name: string) => (user: number, at: number) =>
	`/${name}/${user + USERS * (at % (10_000 / USERS))}`
const list = (name: string) => (user: number) =>
	`/${name}?limit=10&sort=id&id[gte]=${user}${name === 'none' ? `&owner=${user}` : ''}`
const cases = {
	'read, none': own('none'),
	'read, scope()': own('scope'),
	'read, session()': own('session'),
	'read, by hand': own('hand'),
	'list, none': list('none'),
	'list, scope()': list('scope'),
	'list, session()': list('session'),
}

const times = new Map<string, number[]>(Object.keys(cases).map((name) => [name, []]))
// The first round warms up. The cases take turns, so that a slow phase of the machine affects all.
for (let at = 0; at <= ROUNDS; at++)
	for (const [name, path] of Object.entries(cases)) {
		const time = await round(path)
		if (at > 0) times.get(name)?.push(time)
	}
for (const [name, all] of times) {
	const sorted = all.sort((a, b) => a - b).map(Math.round)
	console.log(
		`${name.padEnd(18)} ${sorted[ROUNDS >> 1]} µs a request (${sorted[0]} to ${sorted[ROUNDS - 1]})`,
	)
}
await pool.query(`drop table ${TABLE}; drop role ${ROLE}`)
await pool.end()
