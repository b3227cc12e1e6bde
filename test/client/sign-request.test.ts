import { createHash, createHmac } from 'node:crypto'
import * as assert from 'uvu/assert'
import { CrudClient, type SignOptions, signRequest } from '../../lib/client/index.ts'
import { HmacAuthenticator, RestHandler } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'

const SECRET = Buffer.alloc(32, 7)
const KEY = { id: 'k1', secret: SECRET }
const clock = (): number => 1_795_305_600_900
const WEB = { name: 'HMAC', hash: 'SHA-256' }

async function signed(request: Request, options: SignOptions = {}): Promise<Request> {
	return signRequest(request, KEY, { clock, ...options })
}

const inputOf = (request: Request): string => request.headers.get('Signature-Input') ?? ''

async function messageOf(work: Promise<unknown>): Promise<string> {
	try {
		await work
		return 'nothing was thrown'
	} catch (error) {
		return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
	}
}

class Api extends RestHandler {
	override access = { '*': 'user' } as const
	override authenticator = new HmacAuthenticator(this, undefined, 300, { keys: { k1: SECRET } })
	get_me() {
		return this.user
	}
	post_echo() {
		return { type: this.request.header('content-type') ?? null, size: this.request.rawBody.length }
	}
	put_echo() {
		return 'put'
	}
	get_article(id: string) {
		return { id: Number(id) }
	}
}

describe('signRequest', (test) => {
	test('the signature base follows RFC 9421, with the components a server requires', async () => {
		const request = await signed(new Request('https://API.example.com/a%20b?c=d+e#f'))
		const input = inputOf(request)
		assert.match(
			input,
			/^sig=\("@method" "@authority" "@path" "@query"\);created=1795305600;keyid="k1";nonce="[A-Za-z\d+/]{22}==";alg="hmac-sha256"$/,
		)
		const base = `"@method": GET\n"@authority": api.example.com\n"@path": /a%20b\n"@query": ?c=d+e\n"@signature-params": ${input.slice(4)}`
		const signature = createHmac('sha256', SECRET).update(base).digest('base64')
		assert.is(request.headers.get('Signature'), `sig=:${signature}:`)
		assert.not(request.headers.has('Content-Digest'))
	})

	test("a body's digest and type are covered, and it is sent unchanged", async () => {
		const original = new Request('https://a/b', { method: 'POST', body: 'thé', headers: { 'X-A': '1' } })
		const request = await signed(original)
		const digest = createHash('sha256').update('thé').digest('base64')
		assert.is(request.headers.get('Content-Digest'), `sha-256=:${digest}:`)
		assert.match(inputOf(request), /"@query" "content-type" "content-digest"\);/)
		assert.equal([await request.text(), request.method, request.headers.get('X-A')], ['thé', 'POST', '1'])
		assert.is(request.headers.get('Content-Type'), 'text/plain;charset=UTF-8')
		// The original request can still be sent, or signed again.
		assert.is(await original.text(), 'thé')
		assert.not(original.headers.has('Signature'))
	})

	const covered: [string, RequestInit, SignOptions, string][] = [
		['bytes without a type', { method: 'POST', body: Uint8Array.of(1) }, {}, ' "content-digest"'],
		['an empty body', { method: 'POST', body: '' }, {}, ''],
		['a POST without a body', { method: 'POST' }, {}, ''],
		[
			'an override',
			{ method: 'POST', headers: { 'X-HTTP-Method-Override': 'PUT' } },
			{},
			' "x-http-method-override"',
		],
		[
			'If-Match and Idempotency-Key',
			{ headers: { 'If-Match': '"1"', 'Idempotency-Key': '"2"' } },
			{},
			' "idempotency-key" "if-match"',
		],
		[
			'headers that are named',
			{ headers: { 'X-A': '1', 'X-B': '2' } },
			{ covers: ['X-A', '@method', 'x-a'] },
			' "x-a"',
		],
	]
	for (const [what, init, options, names] of covered) {
		test(`of ${what} is covered:${names || ' nothing more'}`, async () => {
			const request = await signed(new Request('https://a/b', init), options)
			assert.is(/@query"(.*)\);created/.exec(inputOf(request))?.[1], names)
		})
	}

	test('expires and tag are added', async () => {
		const request = await signed(new Request('https://a/b'), { expiresSeconds: 30, tag: 'a "b"' })
		assert.match(inputOf(request), /;expires=1795305630;tag="a \\"b\\""$/)
	})

	test('each signature has its own nonce, and replaces an earlier one', async () => {
		const first = await signed(new Request('https://a/b'))
		const second = await signed(first)
		assert.is.not(inputOf(second), inputOf(first))
		assert.is(inputOf(second).match(/sig=/g)?.length, 1)
	})

	test('secrets are bytes, base64, or keys of WebCrypto', async () => {
		const webKey = await crypto.subtle.importKey('raw', SECRET, WEB, false, ['sign'])
		for (const secret of [SECRET, new Uint8Array(SECRET), SECRET.toString('base64'), webKey]) {
			const request = await signRequest(new Request('https://a/b'), { id: 'k1', secret })
			const base = `"@method": GET\n"@authority": a\n"@path": /b\n"@query": ?\n"@signature-params": ${inputOf(request).slice(4)}`
			const signature = createHmac('sha256', SECRET).update(base).digest('base64')
			assert.is(request.headers.get('Signature'), `sig=:${signature}:`)
		}
	})

	test('values that cannot sign are refused', async () => {
		const request = new Request('https://a/b')
		const key = (hash: string, usage: 'sign' | 'verify') =>
			crypto.subtle.importKey('raw', SECRET, { name: 'HMAC', hash }, false, [usage])
		const shape =
			"TypeError: signRequest: the key's secret must be bytes, base64, or a CryptoKey for HMAC with SHA-256"
		const name = "TypeError: signRequest needs a key's id: 1 to 128 characters of printable ASCII"
		const table: [unknown, string][] = [
			[undefined, 'TypeError: signRequest needs a key: { id, secret }'],
			[null, 'TypeError: signRequest needs a key: { id, secret }'],
			['k', 'TypeError: signRequest needs a key: { id, secret }'],
			[{ id: '', secret: SECRET }, name],
			[{ id: 'ключ', secret: SECRET }, name],
			[{ id: 'k'.repeat(129), secret: SECRET }, name],
			[{ secret: SECRET }, name],
			[{ id: 'k' }, "TypeError: signRequest needs the key's secret"],
			[
				{ id: 'k', secret: 'password!' },
				"TypeError: signRequest: the key's secret must be base64 with padding",
			],
			[
				{ id: 'k', secret: SECRET.subarray(1) },
				"TypeError: signRequest: the key's secret must have at least 32 bytes, got 31",
			],
			[{ id: 'k', secret: await key('SHA-512', 'sign') }, shape],
			[{ id: 'k', secret: await key('SHA-256', 'verify') }, shape],
			[{ id: 'k', secret: 5 }, shape],
			[{ id: 'k', secret: null }, "TypeError: signRequest needs the key's secret"],
		]
		for (const [wrong, message] of table)
			assert.is(await messageOf(signRequest(request, wrong as typeof KEY)), message)
	})

	test('a header to be covered must be present', async () => {
		const request = new Request('https://a/b')
		assert.is(
			await messageOf(signRequest(request, KEY, { covers: ['X-A'] })),
			'RangeError: the covered field x-a is missing',
		)
	})

	const bounds = 'RangeError: expiresSeconds must be a whole number from 1 to 86400, got'
	const options: [unknown, string][] = [
		[null, "TypeError: signRequest's options must be an object"],
		[5, "TypeError: signRequest's options must be an object"],
		[
			{ expires: 30 },
			'TypeError: signRequest has no option expires: there are covers, expiresSeconds, tag, clock',
		],
		...[0, -1, 86_401, 1.5, Number.NaN, null, '30'].map((time): [unknown, string] => [
			{ expiresSeconds: time },
			`${bounds} ${time}`,
		]),
		[{ expiresSeconds: 1 }, 'nothing was thrown'],
		[{ expiresSeconds: 86_400 }, 'nothing was thrown'],
		[{ expiresSeconds: undefined, tag: undefined }, 'nothing was thrown'],
	]
	for (const [wrong, message] of options) {
		test(`the options ${JSON.stringify(wrong)}: ${message}`, async () => {
			// The wrong type is what is tested.
			const asked = signRequest(new Request('https://a/b'), KEY, wrong as SignOptions)
			assert.is(await messageOf(asked), message)
		})
	}

	for (const [what, body] of [
		['an empty body', ''],
		['an empty stream', new ReadableStream({ start: (to) => to.close() })],
		['no body', undefined],
	] as const) {
		test(`a request with ${what} stays usable`, async () => {
			const init = { method: 'POST', body, duplex: 'half' } as RequestInit // What a stream needs, and no type has.
			const original = new Request('https://a/b', init)
			const copy = await signed(original)
			assert.equal([original.bodyUsed, await original.text(), await copy.text()], [false, '', ''])
			assert.not(copy.headers.has('Content-Digest'))
			assert.is(copy.headers.get('Content-Type'), original.headers.get('Content-Type'))
		})
	}

	test('a body that has already been read is refused', async () => {
		const request = new Request('https://a/b', { method: 'POST', body: 'a' })
		await request.text()
		assert.match(await messageOf(signRequest(request, KEY)), /^TypeError: /)
	})

	test('a signal still aborts the copy', async () => {
		const abort = new AbortController()
		const request = await signed(new Request('https://a/b', { signal: abort.signal }))
		abort.abort()
		assert.ok(request.signal.aborted)
	})
})

describe('signRequest: sent to a server', (test) => {
	const form = new FormData()
	form.append('a', new File(['file'], 'a.txt'))
	const bodies: [string, RequestInit][] = [
		['no body', { method: 'POST' }],
		['text', { method: 'POST', body: 'thé' }],
		['bytes', { method: 'POST', body: new Uint8Array(100_000).fill(200) }],
		['a blob', { method: 'POST', body: new Blob(['abc'], { type: 'image/png' }) }],
		['a form', { method: 'POST', body: new URLSearchParams({ a: 'b c' }) }],
		['multipart', { method: 'POST', body: form }],
		['an override', { method: 'POST', body: 'a', headers: { 'X-HTTP-Method-Override': 'put' } }],
	]

	test('it is accepted with any body, and only once', () =>
		listening({ api: new Api() }, {}, async ({ url, log }) => {
			for (const [what, init] of bodies) {
				const request = await signRequest(new Request(`${url}/api/echo?a=%20b`, init), KEY)
				const again = request.clone()
				const answer = await fetch(request)
				assert.is(answer.status, 200, `${what}: ${log.lines.at(-1)?.fields.err}`)
				await answer.text()
				assert.is((await fetch(again)).status, 401)
			}
			const head = await signRequest(new Request(`${url}/api/me`, { method: 'HEAD' }), KEY)
			assert.is((await fetch(head)).status, 200)
		}))

	test('all requests of a client are signed by its fetch', () =>
		listening({ api: new Api() }, {}, async ({ url }) => {
			const articles = new CrudClient<{ id: number }>('article', `${url}/api`, {
				fetch: async (url, init) => fetch(await signRequest(new Request(url, init), KEY)),
			})
			assert.equal(await articles.get(1), { id: 1 })
			assert.match(
				await messageOf(new CrudClient('article', `${url}/api`).get(1)),
				/^ApiError: .*Unauthorized/,
			)
		}))
})
