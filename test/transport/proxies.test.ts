import * as assert from 'uvu/assert'
import { createServer, RestHandler } from '../../lib/index.ts'
import { proxiesOf, type TrustProxy } from '../../lib/transport/proxies.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { ask, requestText } from '../helpers/raw.ts'

class Site extends RestHandler {
	get_who() {
		const { ip, host, protocol } = this.request
		return { ip, host, protocol }
	}
}

interface Case {
	name: string
	trust?: TrustProxy
	peer?: string
	forwarded?: string
	ip: string
}

const SPOOFED = '6.6.6.6'

const ADDRESSES: Case[] = [
	{ name: 'nothing is trusted', peer: '10.0.0.1', forwarded: SPOOFED, ip: '10.0.0.1' },
	{ name: 'no proxies', trust: 0, peer: '10.0.0.1', forwarded: SPOOFED, ip: '10.0.0.1' },
	{ name: 'an empty list', trust: [], peer: '10.0.0.1', forwarded: SPOOFED, ip: '10.0.0.1' },
	{ name: 'one proxy', trust: 1, forwarded: '1.1.1.1', ip: '1.1.1.1' },
	{
		name: 'one proxy, and what a client has written',
		trust: 1,
		forwarded: `${SPOOFED}, 1.1.1.1`,
		ip: '1.1.1.1',
	},
	{ name: 'two proxies', trust: 2, forwarded: `${SPOOFED}, 1.1.1.1, 10.0.0.2`, ip: '1.1.1.1' },
	{ name: 'more proxies than there are', trust: 5, forwarded: '1.1.1.1, 10.0.0.2', ip: '1.1.1.1' },
	{ name: 'a proxy that says nothing', trust: 1, peer: '10.0.0.1', ip: '10.0.0.1' },
	{
		name: 'an address',
		trust: ['10.0.0.1'],
		peer: '10.0.0.1',
		forwarded: `${SPOOFED}, 1.1.1.1`,
		ip: '1.1.1.1',
	},
	{ name: 'another address', trust: ['10.0.0.1'], peer: '10.0.0.2', forwarded: SPOOFED, ip: '10.0.0.2' },
	{ name: 'a range', trust: ['10.0.0.0/8'], peer: '10.9.9.9', forwarded: '1.1.1.1, 10.2.3.4', ip: '1.1.1.1' },
	{
		name: 'a range of IPv6',
		trust: ['fd00::/8'],
		peer: 'fd12::1',
		forwarded: '2001:db8::7',
		ip: '2001:db8::7',
	},
	{ name: 'an address of IPv6', trust: ['::1'], peer: '::1', forwarded: '1.1.1.1', ip: '1.1.1.1' },
	{
		name: 'an address of a dual-stack socket',
		trust: ['10.0.0.1'],
		peer: '::ffff:10.0.0.1',
		forwarded: '1.1.1.1',
		ip: '1.1.1.1',
	},
	{
		name: 'a mapped range',
		trust: ['::ffff:10.0.0.0/104'],
		peer: '10.0.0.1',
		forwarded: '1.1.1.1',
		ip: '1.1.1.1',
	},
	{
		name: 'a link-local address with its zone',
		trust: ['fe80::/10'],
		peer: 'fe80::1%eth0',
		forwarded: '1.1.1.1',
		ip: '1.1.1.1',
	},
	{ name: 'a mapped address, told without its prefix', peer: '::ffff:1.2.3.4', ip: '1.2.3.4' },
	{
		name: 'a forwarded mapped address, in brackets, with a port',
		trust: 1,
		forwarded: '[::ffff:1.2.3.4]:5000',
		ip: '1.2.3.4',
	},
	{ name: 'a forwarded address with a port', trust: 1, forwarded: '1.1.1.1:5000', ip: '1.1.1.1' },
	{
		name: 'a forwarded address of IPv6 with a port',
		trust: 1,
		forwarded: '[2001:db8::7]:5000',
		ip: '2001:db8::7',
	},
	{
		name: 'a forwarded address of IPv6 in brackets',
		trust: 1,
		forwarded: '[2001:db8::7]',
		ip: '2001:db8::7',
	},
	{ name: 'a forwarded name', trust: 1, peer: '10.0.0.1', forwarded: 'unknown', ip: '10.0.0.1' },
	{
		name: 'a script in place of an address',
		trust: 1,
		peer: '10.0.0.1',
		forwarded: '<script>',
		ip: '10.0.0.1',
	},
	{ name: 'a name between addresses', trust: 3, forwarded: '1.1.1.1, unknown, 10.0.0.2', ip: '10.0.0.2' },
	{ name: 'empty entries', trust: 1, forwarded: ' , 1.1.1.1, ', ip: '1.1.1.1' },
	{
		name: 'a unix socket, where there is no address',
		trust: ['10.0.0.1'],
		peer: '',
		forwarded: SPOOFED,
		ip: '',
	},
	{ name: 'a unix socket behind a proxy', trust: 1, peer: '', forwarded: '1.1.1.1', ip: '1.1.1.1' },
]

describe('trustProxy', (test) => {
	for (const { name, trust, peer = '10.0.0.1', forwarded, ip } of ADDRESSES) {
		test(`${name}: the client is ${ip || 'unknown'}`, async () => {
			const server = createServer({ '': Site }, trust === undefined ? {} : { trustProxy: trust })
			const headers = forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded }
			const answer = await server.inject({ url: '/who', headers, remoteAddress: peer })
			assert.is((answer.json() as { data: { ip: string } }).data.ip, ip)
		})
	}

	const FORWARDED = { 'X-Forwarded-Host': 'a.example, b.example', 'X-Forwarded-Proto': 'HTTPS' }
	const HOSTS: [trust: TrustProxy | undefined, host: string, protocol: string][] = [
		[undefined, 'localhost', 'http'],
		[1, 'b.example', 'https'],
		[['127.0.0.1'], 'b.example', 'https'],
		[['10.0.0.1'], 'localhost', 'http'],
	]
	for (const [trust, host, protocol] of HOSTS) {
		test(`${JSON.stringify(trust)}: the host is ${host}, by ${protocol}`, async () => {
			const server = createServer({ '': Site }, trust === undefined ? {} : { trustProxy: trust })
			const answer = await server.inject({ url: '/who', headers: FORWARDED })
			assert.equal((answer.json() as { data: unknown }).data, { ip: '127.0.0.1', host, protocol })
		})
	}

	test('an unknown protocol is http', async () => {
		const server = createServer({ '': Site }, { trustProxy: 1 })
		const answer = await server.inject({ url: '/who', headers: { 'X-Forwarded-Proto': 'gopher' } })
		assert.is((answer.json() as { data: { protocol: string } }).data.protocol, 'http')
	})

	for (const forwarded of ['a b', 'a/b', 'user@b.example', ':80', 'b.example:http']) {
		test(`the forwarded host ${forwarded} is ignored`, async () => {
			const server = createServer({ '': Site }, { trustProxy: 1 })
			const answer = await server.inject({ url: '/who', headers: { 'X-Forwarded-Host': forwarded } })
			assert.is((answer.json() as { data: { host: string } }).data.host, 'localhost')
		})
	}

	test('several lines of a header are read as one', () =>
		listening({ '': Site }, { trustProxy: 2 }, async ({ port }) => {
			const lines = [`X-Forwarded-For: ${SPOOFED}`, 'X-Forwarded-For: 1.1.1.1', 'X-Forwarded-For: 10.0.0.2']
			const answer = await ask(port, requestText('GET /who', lines))
			assert.is((answer.json() as { data: { ip: string } }).data.ip, '1.1.1.1')
		}))

	const REFUSED: [trust: unknown, message: string][] = [
		[true, 'true would let every client write its own address'],
		[-1, 'must be a number of proxies'],
		[1.5, 'must be a number of proxies'],
		[Number.NaN, 'must be a number of proxies'],
		['10.0.0.1', 'got "10.0.0.1"'],
		[
			['10.0.0'],
			`trustProxy[0] must be an address or a CIDR range, '10.0.0.1', '10.0.0.0/8' or '::1', got "10.0.0"`,
		],
		[['10.0.0.0/33'], 'a CIDR range'],
		[['::/129'], 'a CIDR range'],
		[['10.0.0.0/'], 'a CIDR range'],
		[['10.0.0.0/8/9'], 'a CIDR range'],
		[['10.0.0.0/ 8'], 'a CIDR range'],
		[['10.0.0.0/0x8'], 'a CIDR range'],
		[['10.0.0.0/-1'], 'a CIDR range'],
		[['proxy.example'], 'got "proxy.example"'],
		[[1], 'got 1'],
	]
	for (const [trust, message] of REFUSED) {
		test(`${JSON.stringify(trust)} is refused: ${message}`, () => {
			assert.throws(
				() => proxiesOf(trust as TrustProxy),
				(error: Error) => error instanceof TypeError && error.message.includes(message),
			)
		})
	}
})

describe('requestId', (test) => {
	class Named extends RestHandler {
		get_id() {
			return this.request.id
		}
	}
	const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

	async function idOf(
		sent: string | string[] | undefined,
		name = 'X-Request-Id',
	): Promise<[string, unknown]> {
		const server = createServer({ '': Named }, { requestId: name })
		const headers = sent === undefined ? {} : { 'x-request-id': sent }
		const answer = await server.inject({ url: '/id', headers })
		return [(answer.json() as { data: string }).data, answer.headers[name.toLowerCase()]]
	}

	for (const id of ['abc-123', 'req_1.2~3:4@5/6+7=', 'a'.repeat(128)]) {
		test(`${id.slice(0, 20)} is accepted, and sent back`, async () => {
			assert.equal(await idOf(id), [id, id])
		})
	}

	for (const id of ['', 'a b', 'a\tb', 'ä', '<script>', 'a;b', '"a"', 'a'.repeat(129), undefined]) {
		test(`${JSON.stringify(id)?.slice(0, 20)} is replaced`, async () => {
			const [told, sent] = await idOf(id)
			assert.match(told, UUID)
			assert.is(sent, told)
		})
	}

	test('a repeated header is replaced', async () => {
		const [told] = await idOf(['a', 'b'])
		assert.match(told, UUID)
	})

	test('errors have it in the body, too', async () => {
		const server = createServer({ '': Named }, { requestId: 'X-Request-Id' })
		const answer = await server.inject({ url: '/nowhere', headers: { 'x-request-id': 'mine' } })
		assert.is((answer.json() as { requestId: string }).requestId, 'mine')
		assert.is(answer.headers['x-request-id'], 'mine')
	})

	test('without the option no header is read or sent, and each request has an id', async () => {
		const server = createServer({ '': Named })
		const answer = await server.inject({ url: '/id', headers: { 'x-request-id': 'mine' } })
		assert.match((answer.json() as { data: string }).data, UUID)
		assert.is(answer.headers['x-request-id'], undefined)
	})

	test('over a socket, in any case', () =>
		listening({ '': Named }, { requestId: 'X-Trace' }, async ({ port }) => {
			const answer = await ask(port, requestText('GET /id', ['x-TRACE: mine']))
			assert.equal([answer.headers['x-trace'], answer.json()], ['mine', { success: true, data: 'mine' }])
		}))
})
