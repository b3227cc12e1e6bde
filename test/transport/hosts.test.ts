import type { AddressInfo } from 'node:net'
import * as assert from 'uvu/assert'
import { createServer, RestHandler, type ServerOptions } from '../../lib/index.ts'
import { Hosts, hostsOf, isLoopback, loopbackHosts } from '../../lib/transport/admission.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { Log, listening } from '../helpers/listening.ts'
import { ask, requestText } from '../helpers/raw.ts'

class Site extends RestHandler {
	get_name() {
		return this.request.host
	}

	post_name() {
		return 'written'
	}
}

function get(host: string | undefined, headers: readonly string[] = [], target = '/name'): string {
	const lines = [`GET ${target} HTTP/1.${host === undefined ? 0 : 1}`]
	if (host !== undefined) lines.push(`Host: ${host}`)
	return `${[...lines, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`
}

/** The statuses of requests with these hosts to a server that listens on loopback. */
async function statuses(options: ServerOptions, ...hosts: (string | undefined)[]): Promise<number[]> {
	const found: number[] = []
	await listening({ '': Site }, options, async ({ port }) => {
		for (const host of hosts) found.push((await ask(port, get(host))).status)
	})
	return found
}

describe('hosts', (test) => {
	test('on loopback, a host name rebound to this machine (DNS rebinding) is answered 421', () =>
		listening({ '': Site }, {}, async ({ port }) => {
			const answer = await ask(port, get(`evil.example:${port}`, ['X-Forwarded-Host: localhost']))
			assert.is(answer.status, 421)
			assert.equal(answer.json(), {
				success: false,
				error: 'This host is not served here: the option `hosts` says which are',
				code: 'misdirected_request',
			})
			assert.is((await ask(port, get('localhost', [], 'http://evil.example/name'))).status, 421)
			assert.is((await ask(port, get('evil.example', [], 'http://localhost/name'))).status, 200)
		}))

	test('on loopback, loopback names are served, with any port', async () => {
		const served = [
			'localhost',
			'LocalHost:1',
			'localhost.',
			'a.b.localhost:80',
			'127.0.0.1',
			'127.9.8.7:3000',
		]
		assert.equal(await statuses({}, ...served, '[::1]', '[::1]:3000', undefined), Array(9).fill(200))
	})

	test('on loopback, names that only look like one are refused', async () => {
		const others = ['localhost.evil.example', 'evil-localhost', '127.0.0.1.evil.example', '127.1', '10.0.0.1']
		assert.equal(await statuses({}, ...others, '[::2]', '0.0.0.0', '127.0.0.256'), Array(8).fill(421))
	})

	test('on a public address, or with trustProxy, any host is served by default', async () => {
		assert.equal(await statuses({ trustProxy: ['127.0.0.1'] }, 'evil.example'), [200])
		assert.equal(await statuses({ trustProxy: 0 }, 'evil.example'), [421])
		assert.equal(await statuses({ trustProxy: [] }, 'evil.example'), [421])
		const server = createServer({ '': Site }, { logger: new Log() })
		try {
			const { port } = await server.listen(0, '0.0.0.0')
			assert.is((await ask(port, get('api.example.com'))).status, 200)
		} finally {
			await server.close()
		}
	})

	test("the default applies whichever way node's server listens", async () => {
		const { server } = createServer({ '': Site }, { logger: new Log() })
		try {
			await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
			assert.is((await ask((server.address() as AddressInfo).port, get('evil.example'))).status, 421)
		} finally {
			server.close()
		}
	})

	test('names are served with any port, and those below a name by *', async () => {
		const hosts = ['api.example.com', '*.example.org', '[2001:db8::1]']
		const served = ['API.example.com:8443', 'api.example.com.', 'a.b.example.org', '[2001:DB8::1]:80']
		assert.equal(await statuses({ hosts }, ...served), [200, 200, 200, 200])
		const others = ['localhost', 'example.com', 'x.api.example.com', 'example.org', 'evilexample.org']
		assert.equal(await statuses({ hosts }, ...others), Array(5).fill(421))
		assert.equal(await statuses({ hosts: '*' }, 'evil.example'), [200])
	})

	test('behind a trusted proxy, the forwarded host counts', () =>
		listening({ '': Site }, { hosts: ['api.example.com'], trustProxy: 1 }, async ({ port }) => {
			const forwarded = (name: string) => ask(port, get('127.0.0.1', [`X-Forwarded-Host: ${name}`]))
			assert.is((await forwarded('api.example.com')).status, 200)
			assert.is((await forwarded('evil.example')).status, 421)
			assert.is((await ask(port, get('127.0.0.1'))).status, 421)
		}))

	test('health checks are answered for any host: probes use an address', () =>
		listening({ '': Site }, { hosts: ['api.example.com'], health: { path: 'health' } }, async ({ port }) => {
			assert.is((await ask(port, get('10.1.2.3:3000', [], '/health/live'))).status, 200)
			assert.is((await ask(port, get('10.1.2.3:3000'))).status, 421)
		}))

	test('handler, fetch and inject serve any host by default, and those of the option with it', async () => {
		const open = createServer({ '': Site })
		assert.is((await open.inject({ url: '/name', headers: { Host: 'a.example' } })).status, 200)
		assert.is((await open.fetch(new Request('http://a.example/name'))).status, 200)
		const own = createServer({ '': Site }, { hosts: ['*.example.com'], logger: new Log() })
		assert.is((await own.fetch(new Request('http://a.example/name'))).status, 421)
		assert.is((await own.fetch(new Request('http://a.example.com/name'))).status, 200)
		assert.equal((await own.inject({ url: '/name' })).json(), { success: true, data: 'www.example.com' })
		assert.is((await own.inject({ url: '/name', headers: { Host: 'localhost' } })).status, 421)
	})

	test('only the first refusal is logged, with the name of the option', () =>
		listening({ '': Site }, {}, async ({ port, log }) => {
			for (const host of ['api.example.com', 'b.example']) await ask(port, get(host))
			const logged = log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
			assert.is(logged.length, 1)
			assert.match(logged[0] ?? '', /"api\.example\.com" was refused with 421.*`hosts`.*`trustProxy`/)
		}))

	const refused: [hosts: unknown, message: RegExp][] = [
		[
			[],
			/^createServer: hosts must be a list of names, \['api.example.com'\], or '\*' for all, got an empty array$/,
		],
		['api.example.com', /got "api.example.com"$/],
		[null, /got null$/],
		[[5], /^createServer: hosts\[0\] must be 'api.example.com', .* got 5$/],
		[
			['a', 'b:80'],
			/^createServer: hosts\[1\] must be .* \(leave the port out: every port is served\), got "b:80"$/,
		],
		[['https://a.example'], /got "https:\/\/a.example"$/],
		[['*'], /got "\*"$/],
		[['a.*.example'], /got "a\.\*\.example"$/],
		[['::1'], /'\[::1\]', got "::1"$/],
		[['bücher.example'], /got "bücher.example"$/],
	]
	for (const [hosts, message] of refused) {
		test(`hosts: ${JSON.stringify(hosts)} is refused`, () => {
			assert.match(
				messageOf(() => createServer({}, { hosts: hosts as string[] })),
				message,
			)
		})
	}

	test('the last host is cached, and only when it was served', () => {
		const hosts = loopbackHosts()
		assert.equal(
			['localhost:1', 'evil', 'localhost:1', 'evil'].map((host) => hosts.serve(host)),
			[true, false, true, false],
		)
		assert.instance(hostsOf('hosts', ['a']), Hosts)
		assert.equal(
			['127.0.0.1', '127.3.2.1', '::1', '::ffff:127.0.0.1', '0.0.0.0', '::', '10.0.0.1'].map(isLoopback),
			[true, true, true, true, false, false, false],
		)
	})
})

describe('crossSiteWrites', (test) => {
	const site = 'Sec-Fetch-Site: cross-site'
	const cors = { origins: ['https://app.example.com'] }
	const OWN = 'Origin: http://LOCALHOST'
	const FORWARDED = 'X-Forwarded-Host: site.example'

	async function written(options: ServerOptions, line: string, headers: readonly string[]): Promise<number> {
		let status = 0
		await listening({ '': Site }, options, async ({ port }) => {
			status = (await ask(port, requestText(line, headers), line.split(' ')[0])).status
		})
		return status
	}

	test('are accepted by default', async () => {
		assert.is(await written({}, 'POST /name', [site]), 200)
	})

	const CASES: [
		what: string,
		line: string,
		headers: readonly string[],
		options: ServerOptions,
		status: number,
	][] = [
		['a write of another site', 'POST /name', [site], {}, 403],
		['a write of an unknown page', 'POST /name', [site, 'Origin: https://evil.example'], { cors }, 403],
		['a write of a page that cors names', 'POST /name', [site, `Origin: ${cors.origins[0]}`], { cors }, 200],
		['a write where cors takes all', 'POST /name', [site, 'Origin: null'], { cors: { origins: '*' } }, 403],
		['a read of another site', 'GET /name', [site], {}, 200],
		['a write of the same site', 'POST /name', ['Sec-Fetch-Site: same-site'], {}, 200],
		['a write of the same origin', 'POST /name', ['Sec-Fetch-Site: same-origin'], {}, 200],
		['a write of no page', 'POST /name', [], {}, 200],
		['a preflight', 'OPTIONS /name', [site], {}, 204],
		['a write of an older browser', 'POST /name', ['Origin: http://evil.example'], {}, 403],
		['a write of an older browser from no origin', 'POST /name', ['Origin: null'], {}, 403],
		['a write of its own page', 'POST /name', [OWN], {}, 200],
		['a write from another port', 'POST /name', ['Origin: http://localhost:81'], {}, 200],
		[
			'a write of an older browser from a page that cors names',
			'POST /name',
			[`Origin: ${cors.origins[0]}`],
			{ cors },
			200,
		],
		['a write to another host', 'POST http://other.example/name', ['Origin: http://other.example'], {}, 200],
		[
			'a write to another host from ours',
			'POST http://other.example/name',
			['Origin: http://localhost'],
			{},
			403,
		],
		[
			'a write through a proxy',
			'POST /name',
			[FORWARDED, 'Origin: http://site.example'],
			{ trustProxy: 1 },
			200,
		],
		['a forwarded write of another site', 'POST /name', [FORWARDED, OWN], { trustProxy: 1 }, 403],
		['a read of an older browser', 'GET /name', ['Origin: http://evil.example'], {}, 200],
	]
	for (const [what, line, headers, options, status] of CASES) {
		test(`false: ${what} → ${status}`, async () => {
			assert.is(await written({ ...options, hosts: '*', crossSiteWrites: false }, line, headers), status)
		})
	}

	test('false: a function of cors.origins allows them too', async () => {
		const options = { cors: { origins: (origin: string) => origin === 'https://a.example' } }
		const from = (origin: string) =>
			written({ ...options, crossSiteWrites: false }, 'POST /name', [site, `Origin: ${origin}`])
		assert.equal([await from('https://a.example'), await from('https://b.example')], [200, 403])
	})

	test('must be true or false', () => {
		const options = { crossSiteWrites: 'no' } as unknown as ServerOptions
		assert.is(
			messageOf(() => createServer({}, options)),
			'createServer: crossSiteWrites must be true or false, got "no"',
		)
	})
})
