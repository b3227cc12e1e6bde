/**
 * Checks the arithmetic of docs/scaling.md: measures the CPU time of each kind of request with one process at half load,
 * predicts from that how much several processes need for a mix of requests, and measures it.
 *
 *     node --import tsx bench/scaling.ts [--processes 2] [--seconds 3] [--rate 1200]
 *
 * Needs PostgreSQL at PGHOST etc. Exits with 1 if a prediction is off by more than 20 %. Run it on an idle machine: other work
 * makes requests cost more.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { CrudHandler, createServer } from '../lib/index.ts'
import { PostgresModel } from '../lib/models/postgres/model.ts'

const KINDS = ['read', 'list', 'create'] as const
type Kind = (typeof KINDS)[number]
/** Shares of the requests. */
type Mix = Readonly<Record<Kind, number>>

/** The mix to predict: mostly reads. */
const MIX: Mix = { read: 0.8, list: 0.1, create: 0.1 }
const RECORDS = 10_000
const MAX_OFF = 0.2
const ROUNDS = 5
const TABLE = 'bench_scaling'

/** The message by which a process reports its CPU time, in µs. */
interface Used {
	readonly cpu: number
}

interface Member {
	readonly port: number
	cpu(): Promise<number>
	stop(): void
}

/** A process that serves the table. */
async function serve(): Promise<void> {
	const pool = new pg.Pool({ max: 8 })
	const model = await PostgresModel.open(pool, TABLE)
	const article = new CrudHandler(model, {
		visible: 'all',
		creatable: ['title'],
		allow: ['list', 'read', 'create'],
	})
	const server = createServer({ article }, { logRequests: false })
	const { port } = await server.listen(0, '127.0.0.1')
	process.on('message', () => {
		const { user, system } = process.cpuUsage()
		process.send?.({ cpu: user + system } satisfies Used)
	})
	process.on('disconnect', () => process.exit())
	process.send?.(port)
}

async function startMember(): Promise<Member> {
	const child = fork(fileURLToPath(import.meta.url), { execArgv: ['--import', 'tsx'] })
	const [port] = await once(child, 'message')
	return {
		port: Number(port),
		async cpu() {
			child.send('cpu')
			const [used] = (await once(child, 'message')) as [Used] // sent by `serve`
			return used.cpu
		},
		stop: () => void child.kill('SIGKILL'),
	}
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

function send(port: number, kind: Kind): Promise<number> {
	const id = 1 + Math.floor(Math.random() * RECORDS)
	const url = kind === 'read' ? `/article/${id}` : kind === 'list' ? '/article?limit=50' : '/article'
	const body = kind === 'create' ? JSON.stringify({ title: `new ${id}` }) : undefined
	const headers =
		body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }
	return new Promise((resolve, reject) => {
		request({
			port,
			host: '127.0.0.1',
			path: url,
			method: body === undefined ? 'GET' : 'POST',
			agent,
			headers,
		})
			.on('error', reject)
			.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)))
			.end(body)
	})
}

/** Sends requests at a steady rate, to the members in turn; returns the CPU time per request of all members, in µs. */
async function measure(members: readonly Member[], mix: Mix, rate: number, seconds: number): Promise<number> {
	const before = await Promise.all(members.map((member) => member.cpu()))
	const start = performance.now()
	const pending: Promise<number>[] = []
	const wanted = rate * seconds
	const owed: Record<Kind, number> = { read: 0, list: 0, create: 0 }
	while (pending.length < wanted) {
		const due = Math.min(wanted, Math.floor(((performance.now() - start) / 1_000) * rate))
		while (pending.length < due) {
			// Next is the kind that is furthest behind its share.
			for (const kind of KINDS) owed[kind] += mix[kind]
			const kind = KINDS.reduce((most, one) => (owed[one] > owed[most] ? one : most))
			owed[kind]--
			const member = members[pending.length % members.length]
			if (member !== undefined) pending.push(send(member.port, kind))
		}
		await new Promise((resolve) => setTimeout(resolve, 2))
	}
	const wrong = (await Promise.all(pending)).filter((status) => status !== 200 && status !== 201)
	if (wrong.length > 0) throw new Error(`${wrong.length} requests failed, with ${[...new Set(wrong)].join()}`)
	const after = await Promise.all(members.map((member) => member.cpu()))
	const used = after.reduce((sum, cpu, at) => sum + cpu - (before[at] ?? 0), 0)
	return used / pending.length
}

function median(values: readonly number[]): number {
	return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			processes: { type: 'string', default: '2' },
			seconds: { type: 'string', default: '3' },
			rate: { type: 'string', default: '1200' },
		},
	})
	const [processes, seconds, rate] = [Number(values.processes), Number(values.seconds), Number(values.rate)]
	const pool = new pg.Pool({ max: 1 })
	await pool.query(`drop table if exists ${TABLE}`)
	await pool.query(
		`create table ${TABLE} (id bigserial primary key, title text not null, at timestamptz default now())`,
	)
	await pool.query(`insert into ${TABLE} (title) select 'title ' || n from generate_series(1, ${RECORDS}) n`)
	await pool.query(`analyze ${TABLE}`)
	const members = await Promise.all(Array.from({ length: processes }, startMember))
	try {
		const [first] = members
		if (first === undefined) throw new Error('--processes must be 1 or more')
		// Warms up: V8 compiles the code before it is measured.
		await measure(members, MIX, rate, 2 * seconds)
		const found: Record<Kind | 'mix', number[]> = { read: [], list: [], create: [], mix: [] }
		// In turns, so that a slow phase of the machine affects all.
		for (let round = 0; round < ROUNDS; round++) {
			for (const kind of KINDS) {
				const only: Mix = { read: 0, list: 0, create: 0, [kind]: 1 }
				found[kind].push(await measure([first], only, rate / processes, seconds))
			}
			found.mix.push(await measure(members, MIX, rate, seconds))
		}
		for (const kind of KINDS) console.log(`${kind}: ${median(found[kind]).toFixed(0)} µs of CPU a request`)
		const predicted = KINDS.reduce((sum, kind) => sum + MIX[kind] * median(found[kind]), 0)
		const measured = median(found.mix)
		const off = measured / predicted - 1
		const cores = (cost: number) => ((cost * rate) / 1e6).toFixed(3)
		console.log(`${processes} processes, ${rate} requests a second, on ${availableParallelism()} cores`)
		console.log(`predicted: ${predicted.toFixed(0)} µs a request, ${cores(predicted)} cores`)
		console.log(
			`measured: ${measured.toFixed(0)} µs a request, ${cores(measured)} cores, ${(off * 100).toFixed(1)} % off`,
		)
		if (Math.abs(off) > MAX_OFF) process.exitCode = 1
	} finally {
		for (const member of members) member.stop()
		agent.destroy()
		await pool.query(`drop table ${TABLE}`)
		await pool.end()
	}
}

if (process.send === undefined) await main()
else await serve()
