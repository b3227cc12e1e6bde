/** The recipes of docs/deployment.md for what stands in front: nginx and HAProxy. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { RestHandler, type ServerOptions } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { freePorts, run } from '../helpers/program.ts'
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

async function behind(
	make: (own: number, server: number) => Promise<InFront>,
	options: ServerOptions,
	use: (proxy: InFront, handler: Counter) => Promise<void>,
): Promise<void> {
	const handler = new Counter()
	await listening({ '': handler }, { health: { path: 'health' }, ...options }, async ({ port }) => {
		const [own = 0] = await freePorts(1)
		const proxy = await make(own, port)
		try {
			await use(proxy, handler)
		} finally {
			await proxy.stop()
		}
	})
}

const ofNginx = (own: number, server: number): Promise<InFront> =>
	nginx(own, at(recipe('## nginx', 'nginx'), own, server))
const ofHaproxy = (own: number, server: number): Promise<InFront> =>
	haproxy(own, at(recipe('## HAProxy', 'haproxy'), own, server))

/** 25 times 100 POSTs, about `gap` ms from each other, so that connections are left idle for about that long. */
async function bursts(url: string, gap: number): Promise<number[]> {
	const statuses: number[] = []
	for (let burst = 0; burst < 25; burst++) {
		const asked = Array.from({ length: 100 }, async (_, one) => {
			const body = new URLSearchParams({ id: `${burst}-${one}` })
			const response = await fetch(`${url}/order`, { method: 'POST', body })
			await response.arrayBuffer()
			return response.status
		})
		statuses.push(...(await Promise.all(asked)))
		await sleep(gap - 50 + burst * 4)
	}
	return statuses
}

describe('deployment: proxies', (test) => {
	const tried = hasProxies || process.env.CI === 'true' ? test : test.skip

	for (const [name, make] of [
		['nginx', ofNginx],
		['HAProxy', ofHaproxy],
	] as const) {
		tried(`${name} loses none of 2,500 POSTs while connections idle out, and repeats none`, () =>
			behind(make, { trustProxy: ['127.0.0.1'] }, async ({ url }, { seen }) => {
				const statuses = await bursts(url, 5_000)
				assert.equal([...new Set(statuses)], [200])
				assert.is(seen.size, 2_500)
				assert.equal([...new Set(seen.values())], [1])
			}),
		)

		tried(`${name} passes on who is calling whom, by trustProxy`, () =>
			behind(make, { trustProxy: 1, hosts: ['127.0.0.1'] }, async ({ url }) => {
				const headers = { 'X-Forwarded-For': '6.6.6.6', 'X-Forwarded-Host': 'evil.example' }
				const response = await fetch(`${url}/about`, { headers })
				const { data } = (await response.json()) as { data: About }
				assert.equal(data, { host: new URL(url).host, ip: '127.0.0.1', protocol: 'http' })
			}),
		)

		tried(
			`${name} with a public name: 421 where nothing is said of it, 200 by trustProxy or hosts`,
			async () => {
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
			},
		)
	}
})
