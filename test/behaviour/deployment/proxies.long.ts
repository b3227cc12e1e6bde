/** The recipes of docs/deployment.md for reverse proxies: nginx and HAProxy. */
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { createServer, RestHandler, type ServerOptions } from '../../../lib/index.ts'
import { describe } from '../../helpers/describe.ts'
import { listening } from '../../helpers/listening.ts'
import { freePorts, run } from '../../helpers/program.ts'
import { HAPROXY, haproxy, hasProxies, type InFront, NGINX, nginx, recipe } from './proxies.ts'

class Counter extends RestHandler {
	readonly seen = new Map<string, number>()

	get_about() {
		const { host, ip, protocol } = this.request
		return { host, ip, protocol }
	}

	post_order() {
		const id = String(this.post.id)
		this.seen.set(id, (this.seen.get(id) ?? 0) + 1)
		return id
	}
}

interface About {
	readonly host: string
	readonly ip: string
	readonly protocol: string
}

const MISSING = `${NGINX} or ${HAPROXY} is missing: apt-get install nginx-light haproxy`
if (!hasProxies) console.error(MISSING)

/** The recipe, for these ports. */
function at(block: string, own: number, server: number): string {
	return block
		.replaceAll(/listen 80;/g, `listen 127.0.0.1:${own};`)
		.replaceAll(/bind :80\b/g, `bind 127.0.0.1:${own}`)
		.replaceAll('127.0.0.1:3000', `127.0.0.1:${server}`)
}

type Make = (own: number, server: number) => Promise<InFront>

async function behind(
	make: Make,
	options: ServerOptions,
	use: (proxy: InFront, handler: Counter, port: number) => Promise<void>,
): Promise<void> {
	const handler = new Counter()
	await listening({ '': handler }, { health: { path: 'health' }, ...options }, async ({ port }) => {
		const [own = 0] = await freePorts(1)
		const proxy = await make(own, port)
		try {
			await use(proxy, handler, port)
		} finally {
			await proxy.stop()
		}
	})
}

const ofNginx: Make = (own, server) => nginx(own, at(recipe('## nginx', 'nginx'), own, server))
const ofHaproxy: Make = (own, server) => haproxy(own, at(recipe('## HAProxy', 'haproxy'), own, server))

/** The recipes, but that idle connections to the server are kept for a second: HAProxy's own 5 s, nginx's 60 s. */
const quickNginx: Make = (own, server) =>
	nginx(
		own,
		at(recipe('## nginx', 'nginx'), own, server).replace('keepalive 64;', '$& keepalive_timeout 1s;'),
	)
const quickHaproxy: Make = (own, server) =>
	haproxy(own, at(recipe('## HAProxy', 'haproxy'), own, server).replace('rise 1', '$& pool-purge-delay 1s'))

const BURST = 100
/** As long as serializing big JSON takes. */
const BUSY = 400

/** Keeps its connections for as long as it can, whatever `Keep-Alive` says: HAProxy passes ours on. */
class Keeping extends Agent {
	override keepSocketAlive(): boolean {
		return true
	}
}

/** The statuses of so many concurrent POSTs, 0 for no response. */
async function burst(url: string, agent: Agent, name: string): Promise<number[]> {
	// After this phase of the event loop timers run, before received data is read.
	await new Promise((resolve) => setImmediate(resolve))
	const answers = Array.from({ length: BURST }, (_, one) => {
		const body = `id=${name}-${one}`
		const headers = {
			'content-type': 'application/x-www-form-urlencoded',
			'content-length': body.length,
		}
		return new Promise<number>((resolve) => {
			const sent = request(`${url}/order`, { method: 'POST', agent, headers }, (answer) => {
				answer.resume().on('close', () => resolve(answer.complete ? (answer.statusCode ?? 0) : 0))
			})
			sent.on('error', () => resolve(0)).end(body)
		})
	})
	// Connections whose time ends meanwhile are closed, with the requests in them that the proxy has sent.
	process.nextTick(() => process.nextTick(hold))
	return Promise.all(answers)
}

/** Blocks the event loop, without using the processor. */
function hold(): void {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY)
}

/** How long a server keeps an idle connection, of 1 s by `keepAliveTimeoutSeconds`: most versions of Node add another. */
async function idleTime(port: number): Promise<number> {
	const socket = connect(port, '127.0.0.1')
	socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n')
	await once(socket, 'data')
	const began = performance.now()
	await once(socket, 'end')
	socket.destroy()
	// It may be held up, and then seems longer.
	return performance.now() - began < 1_900 ? 1_000 : 2_000
}

/**
 * How many POSTs of bursts, so many ms from each other, came to nothing; the first of which are enough. None may be done
 * twice, nor be done and lost.
 */
async function lost({ url }: InFront, { seen }: Counter, pauses: readonly number[]): Promise<number> {
	const agent = new Keeping({ keepAlive: true })
	const statuses: number[] = []
	const done = () => statuses.filter((status) => status === 200).length
	try {
		for (const [at, pause] of pauses.entries()) {
			statuses.push(...(await burst(url, agent, String(at))))
			if (done() < statuses.length) break
			await sleep(pause)
		}
	} finally {
		agent.destroy()
	}
	assert.equal(
		statuses.filter((status) => ![0, 200, 502].includes(status)),
		[],
	)
	assert.is(seen.size, done())
	assert.equal([...new Set(seen.values())], [1])
	return statuses.length - done()
}

describe('deployment: proxies', (test) => {
	const tried = hasProxies || process.env.CI === 'true' ? test : test.skip

	for (const [name, make, makeQuick] of [
		['nginx', ofNginx, quickNginx],
		['HAProxy', ofHaproxy, quickHaproxy],
	] as const) {
		tried(
			`${name} loses POSTs when the server closes idle connections first, and none when it keeps them longer`,
			async () => {
				const shorter = behind(make, { keepAliveTimeoutSeconds: 1 }, async (proxy, handler, port) => {
					const time = await idleTime(port)
					// Earlier ones too: a slow machine adds up to a few hundred ms to each.
					const pauses = Array.from({ length: 160 }, (_, at) => time - 30 - ((at * 7) % 20) * 30)
					assert.ok((await lost(proxy, handler, pauses)) > 0, 'this trial sees no losses')
				})
				// As much longer than the proxy's as 72 s are longer than 60 s.
				const longer = behind(makeQuick, { keepAliveTimeoutSeconds: 13 }, async (proxy, handler) => {
					const pauses = Array.from({ length: 12 }, (_, at) => 940 + at * 10)
					assert.is(await lost(proxy, handler, pauses), 0)
				})
				await Promise.all([shorter, longer])
			},
		)

		tried(`${name} forwards client address, host and protocol, with trustProxy`, () =>
			behind(make, { trustProxy: 1, hosts: ['127.0.0.1'] }, async ({ url }) => {
				const headers = { 'X-Forwarded-For': '6.6.6.6', 'X-Forwarded-Host': 'evil.example' }
				const response = await fetch(`${url}/about`, { headers })
				const { data } = (await response.json()) as { data: About }
				assert.equal(data, { host: new URL(url).host, ip: '127.0.0.1', protocol: 'http' })
			}),
		)

		tried(`${name} with a public name: 421 by default, 200 with trustProxy or hosts`, async () => {
			const status = async (options: ServerOptions): Promise<number> => {
				let found = 0
				await behind(make, options, async ({ url }) => {
					const [, port = ''] = url.split('//127.0.0.1:')
					const args = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', 'Host: api.example.com']
					const { output } = await run({
						program: 'curl',
						args: [...args, `http://127.0.0.1:${port}/about`],
					})
					found = Number(output)
				})
				return found
			}
			assert.is(await status({}), 421)
			assert.is(await status({ hosts: ['api.example.com'] }), 200)
			assert.is(await status({ trustProxy: ['127.0.0.1'] }), 200)
		})
	}

	tried('nginx over a Unix socket forwards client address, host and protocol', async () => {
		const folder = mkdtempSync(join(tmpdir(), 'verbena-socket-'))
		chmodSync(folder, 0o755)
		const path = join(folder, 'app.sock')
		const server = createServer({ '': new Counter() }, { trustProxy: 1, hosts: ['seeds.example.com'] })
		const [own = 0] = await freePorts(1)
		const whole = recipe('## nginx', 'nginx')
		const upstream = recipe('## nginx over a Unix socket', 'nginx').replace('/run/seeds/app.sock', path)
		try {
			await server.listen({ path, writableAll: true })
			const proxy = await nginx(
				own,
				at(
					whole.replace(/^upstream[^}]*}\n/, () => upstream),
					own,
					0,
				),
			)
			try {
				const args = ['-s', '-H', 'X-Forwarded-For: 6.6.6.6', `${proxy.url}/about`]
				const { output } = await run({ program: 'curl', args: ['-H', 'Host: seeds.example.com', ...args] })
				const data = { host: 'seeds.example.com', ip: '127.0.0.1', protocol: 'http' }
				assert.equal(JSON.parse(output), { success: true, data })
				assert.match((await run({ program: 'curl', args })).output, '"code":"misdirected_request"')
			} finally {
				await proxy.stop()
			}
		} finally {
			await server.close()
			rmSync(folder, { recursive: true })
		}
	})
})
