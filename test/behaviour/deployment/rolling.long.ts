/** Rolling restarts of four processes behind nginx, and behind HAProxy, under load: no request is lost or run twice. */
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { bundled } from '../../helpers/bundled.ts'
import { describe } from '../../helpers/describe.ts'
import { driversHere, SERVER } from '../../helpers/postgres.ts'
import { freePorts, ROOT, type Running, start, untilPrinted } from '../../helpers/program.ts'
import { inTimesOf } from '../../helpers/stalls.ts'
import { trials } from '../../helpers/trials.ts'
import { HAPROXY, haproxy, hasProxies, type InFront, NGINX, nginx, recipe } from './proxies.ts'

const PROCESSES = 4
const LANES = 12
const ROUNDS = trials(1)

interface Kind {
	readonly start: (own: number, servers: readonly number[]) => Promise<InFront>
	/** Seconds, as the page says for how often the proxy asks. */
	readonly drainDelay: number
	/** Until the proxy has found a new process, ms. */
	readonly pause: number
}

/** The recipes for several servers. HAProxy asks ten times as often as there. */
const KINDS: Readonly<Record<string, Kind>> = {
	nginx: {
		start: (own, servers) => {
			const whole = recipe('## nginx', 'nginx').replaceAll('listen 80;', `listen 127.0.0.1:${own};`)
			const upstream = recipe('## Several processes', 'nginx').replace(/(?:\tserver [^\n]*\n)+/, (lines) => {
				const [, settings = ''] = /server \S+?( .*)?;/.exec(lines) ?? []
				return servers.map((port) => `\tserver 127.0.0.1:${port}${settings};\n`).join('')
			})
			return nginx(
				own,
				whole.replace(/^upstream[^}]*}\n/, () => upstream),
			)
		},
		...{ drainDelay: 0, pause: 0 },
	},
	HAProxy: {
		start: (own, servers) => {
			const whole = recipe('## HAProxy', 'haproxy').replace('bind :80', `bind 127.0.0.1:${own}`)
			const lines = servers.map(
				(port, at) => `\tserver s${at} 127.0.0.1:${port} check inter 200ms fall 2 rise 1\n`,
			)
			return haproxy(
				own,
				whole.replace(/\tserver one .*\n/, () => lines.join('')),
			)
		},
		...{ drainDelay: 1.5, pause: 500 },
	},
}

interface Seen {
	/** Texts of the records that were answered as created. */
	readonly created: Set<string>
	readonly failures: string[]
	answers: number
}

/** Requests by several clients, each of which waits for its answer, until `signal` is aborted. */
async function load(url: string, seen: Seen, signal: AbortSignal): Promise<void> {
	const agent = new Agent({ keepAlive: true, maxSockets: LANES })
	const lane = async (at: number): Promise<void> => {
		for (let step = 0; !signal.aborted; step++) {
			const text = `${at}-${step}`
			try {
				const { id } = await ask(`${url}/note`, agent, { text })
				seen.created.add(text)
				const read = await ask(`${url}/note/${id}`, agent)
				assert.is(read.text, text)
				seen.answers += 2
			} catch (error) {
				seen.failures.push(`${text}: ${String(error)}`)
			}
			await sleep(20)
		}
	}
	await Promise.all(Array.from({ length: LANES }, (_, at) => lane(at)))
	agent.destroy()
}

function ask(url: string, agent: Agent, body?: unknown): Promise<{ id: number; text: string }> {
	const method = body === undefined ? 'GET' : 'POST'
	const headers = body === undefined ? {} : { 'Content-Type': 'application/json' }
	return new Promise((resolve, reject) => {
		const asked = request(url, { method, agent, headers }, async (response) => {
			const answer = await json(response).catch(String)
			const { data } = answer as { data?: { id: number; text: string } } // by the envelope
			if (data === undefined) reject(new Error(`${method} ${response.statusCode}: ${JSON.stringify(answer)}`))
			else resolve(data)
		})
		asked.on('error', reject)
		asked.end(body === undefined ? undefined : JSON.stringify(body))
	})
}

async function restarted({ drainDelay, start: startProxy, pause }: Kind): Promise<void> {
	const admin = new pg.Client(SERVER)
	await admin.connect()
	const table = `rolling_${randomUUID().replaceAll('-', '')}`
	await admin.query(`create table ${table} (id serial primary key, text text not null)`)
	const [own = 0, ...ports] = await freePorts(1 + PROCESSES)
	const processes = new Map<number, Running>()
	const startAt = async (port: number): Promise<void> => {
		const args = await bundled(
			`${ROOT}/test/behaviour/deployment/rolling-program.ts`,
			...[String(port), table, String(drainDelay)],
		)
		const running = start({ args })
		processes.set(port, running)
		await untilPrinted(running, 'http://')
	}
	const ending = new AbortController()
	let proxy: InFront | undefined
	try {
		await Promise.all(ports.map(startAt))
		proxy = await startProxy(own, ports)
		await sleep(pause)
		const seen: Seen = { created: new Set(), failures: [], answers: 0 }
		const loading = load(proxy.url, seen, ending.signal)
		// A connection that is opened at the moment in which a process stops listening is reset: until then nginx has opened some.
		while (seen.answers < 10 * LANES && seen.failures.length === 0) await sleep(20)
		for (let round = 0; round < ROUNDS; round++)
			for (const port of ports) {
				const running = processes.get(port)
				running?.child.kill('SIGTERM')
				assert.is(await running?.ended, 0, running?.output())
				await startAt(port)
				await sleep(pause)
			}
		ending.abort()
		await loading
		assert.equal(seen.failures, [])
		assert.ok(seen.answers > 100 * ROUNDS, `${seen.answers} answers`)
		const { rows } = await admin.query<{ text: string; times: number }>(
			`select text, count(*)::int as times from ${table} group by text`,
		)
		assert.is(rows.length, seen.created.size)
		assert.equal(
			rows.filter(({ text, times }) => times !== 1 || !seen.created.has(text)),
			[],
		)
	} finally {
		ending.abort()
		for (const { child } of processes.values()) child.kill('SIGKILL')
		await Promise.all([...processes.values()].map(({ ended }) => ended))
		await proxy?.stop()
		await admin.query(`drop table ${table}`)
		await admin.end()
	}
}

if (!hasProxies) console.error(`${NGINX} or ${HAPROXY} is missing: apt-get install nginx-light haproxy`)
if ((await driversHere()).includes('pg'))
	describe('deployment: rolling restarts', (test) => {
		const tried = hasProxies || process.env.CI === 'true' ? test : test.skip
		// Where the machine stalls, nginx opens a connection while a process stops listening: see docs/deployment.md.
		for (const [name, kind] of Object.entries(KINDS))
			tried(`four processes behind ${name} are restarted, and no request is lost`, () =>
				inTimesOf(2_000, () => restarted(kind)),
			)
	})
