/** Which signed requests are accepted, and which refused, with a controlled clock; over sockets: `http.test.ts`. */
import * as assert from 'uvu/assert'
import type { DeclaredKey } from '../../../lib/auth/hmac/keys.ts'
import { type Cache, HmacAuthenticator, type HmacKeys, MemoryCache, RestHandler } from '../../../lib/index.ts'
import type { Request } from '../../../lib/request/request.ts'
import { type Asking, asking, ok } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { injected, NOW, type Outline, SECRET, type SignedRequest, signed } from './signed-request.ts'

/** A thenable that is not a promise. */
function thenable<T>(value: T): PromiseLike<T> {
	const settled = Promise.resolve(value)
	// biome-ignore lint/suspicious/noThenProperty: it is what is tested
	return { then: (done, failed) => settled.then(done, failed) }
}

const KEYS: HmacKeys = { k1: SECRET }
const OTHER = Buffer.alloc(32, 8)
const UNAUTHORIZED = '401 {"success":false,"error":"Unauthorized","code":"unauthorized"}'

interface Site extends Asking {
	/** Status and body. */
	send(request: SignedRequest): Promise<string>
	/** The logged reasons. */
	reasons(): string[]
	/** The number of bodies the handler has read. */
	readonly calls: { count: number }
	readonly time: { seconds: number }
}

interface Setting {
	readonly keys?: HmacKeys
	readonly cache?: Cache
	readonly windowSeconds?: number
	readonly origin?: string
	readonly trustProxy?: number
}

function site({ keys = KEYS, cache, windowSeconds = 300, origin, trustProxy }: Setting = {}): Site {
	const calls = { count: 0 }
	const time = { seconds: NOW }
	const clock = (): number => time.seconds * 1_000
	const options = { keys, clock, ...(origin === undefined ? {} : { origin }) }
	class Api extends RestHandler {
		get_x() {
			calls.count++
			return this.user
		}
		post_x() {
			calls.count++
			return this.user
		}
		delete_x() {
			return 'deleted'
		}
	}
	class Asks extends RestHandler {
		private auth() {
			return new HmacAuthenticator(this, cache ?? this.cache, windowSeconds, options)
		}
		async get_x() {
			await this.requireAuth(this.auth())
			calls.count++
			return this.user
		}
		async post_x() {
			await this.requireAuth(this.auth())
			calls.count++
			return this.getRawPostData()
		}
		async get_twice() {
			return [await this.requireAuth(this.auth()), await this.requireAuth(this.auth())]
		}
		async get_parallel() {
			return Promise.all([this.requireAuth(this.auth()), this.requireAuth(this.auth())])
		}
	}
	class Shared extends Api {
		override authenticator = new HmacAuthenticator(this, cache, windowSeconds, options)
	}
	const served = asking({ a: new Shared(), asks: new Asks() }, trustProxy === undefined ? {} : { trustProxy })
	const send = async (request: SignedRequest): Promise<string> => {
		const { status, text } = await served.server.inject(injected(request))
		return `${status} ${text()}`
	}
	const reasons = (): string[] =>
		served.lines
			.filter(({ level, message }) => level === 'warn' && message === 'credentials were refused')
			.map(({ fields: { err } }) => (err instanceof Error ? err.message : String(err)))
	return { ...served, send, reasons, calls, time }
}

const POST: Outline = { method: 'POST', headers: [['Content-Type', 'application/json']], body: '{"a":1}' }

describe('hmac: accepted', (test) => {
	const good: [string, Outline][] = [
		['a GET', {}],
		['a GET with a query', { url: '/a/x?a=1&b=%20' }],
		['@target-uri for the three', { covered: ['"@method"', '"@target-uri"'] }],
		[
			'all of it, in another order',
			{
				covered: ['"@query"', '"@path"', '"@authority"', '"@method"', '"host"'],
			},
		],
		['a POST with a body', POST],
		['one digested by SHA-512', { ...POST, digest: 'sha512' }],
		['a body without a type', { method: 'POST', body: 'abc' }],
		['a POST without a body', { method: 'POST' }],
		['alg hmac-sha256', { params: { alg: '"hmac-sha256"' } }],
		['a tag, and a parameter of its own', { params: { tag: '"rest"', 'x-y': '1' } }],
		['expires ahead', { params: { expires: String(NOW) } }],
		['created the whole window ago', { params: { created: String(NOW - 300) } }],
		['created a minute ahead', { params: { created: String(NOW + 60) } }],
		['a nonce of 128 characters', { params: { nonce: `"${'n'.repeat(128)}"` } }],
		['another label', { label: '*x.y-1' }],
		['an override that is signed', { method: 'POST', headers: [['X-HTTP-Method-Override', 'DELETE']] }],
		[
			'If-Match and Idempotency-Key, signed',
			{
				...POST,
				headers: [
					['If-Match', '"1"'],
					['Idempotency-Key', '"2"'],
					['Content-Type', 'a/b'],
				],
			},
		],
	]
	for (const [what, outline] of good) {
		test(what, async () => {
			const { send, reasons } = site()
			assert.match(await send(signed(outline)), /^200 /)
			assert.equal(reasons(), [])
		})
	}

	test("the user is made of the key's id and its properties", async () => {
		const keys = {
			k1: SECRET.toString('base64'),
			k2: { secret: OTHER, user: { id: 'ada', roles: ['editor'] } },
			k3: { secret: [SECRET, OTHER], user: { roles: [] } },
		}
		const { send } = site({ keys })
		assert.is(await send(signed()), ok({ id: 'k1' }))
		const second = signed({ params: { keyid: '"k2"' }, secret: OTHER })
		assert.is(await send(second), ok({ id: 'ada', roles: ['editor'] }))
		for (const secret of [SECRET, OTHER])
			assert.is(await send(signed({ params: { keyid: '"k3"' }, secret })), ok({ id: 'k3', roles: [] }))
	})

	for (const [what, keys] of [
		['a Map', new Map([['k1', [OTHER, SECRET]]])],
		['a function', (keyid: string) => (keyid === 'k1' ? SECRET : undefined)],
		['an asynchronous function', async (keyid: string) => (keyid === 'k1' ? { secret: SECRET } : null)],
		// Some libraries' queries are not promises: they run when `then` is called.
		['a query', (keyid: string) => thenable(keyid === 'k1' ? { secret: SECRET } : undefined)],
	] as const) {
		test(`keys from ${what}`, async () => {
			const { send, reasons } = site({ keys })
			assert.is(await send(signed()), ok({ id: 'k1' }))
			assert.is(await send(signed({ params: { keyid: '"k2"' } })), UNAUTHORIZED)
			assert.equal(reasons(), ['no key is known as "k2"'])
		})
	}

	test('an object or a Map is read once: deleting a key from it does not revoke it', async () => {
		const keys = new Map<string, Buffer>([['k1', SECRET]])
		const { send } = site({ keys })
		keys.clear()
		for (const url of ['/a/x', '/asks/x']) assert.is(await send(signed({ url })), ok({ id: 'k1' }))
		// Also for an authenticator created with it later, as by a method for each request.
		assert.is(await site({ keys }).send(signed()), ok({ id: 'k1' }))
	})

	for (const [what, kind] of [
		['an object', (key: DeclaredKey) => ({ k1: key })],
		['a function', (key: DeclaredKey) => () => key],
	] as const) {
		test(`changes a method makes to its user affect no other request, with keys from ${what}`, async () => {
			const user = { roles: ['reader'], team: { names: ['a'] } }
			const authenticator = new HmacAuthenticator(undefined, undefined, 300, {
				keys: kind({ secret: SECRET, user }),
				clock: () => NOW * 1_000,
			})
			class Spoils extends RestHandler {
				override authenticator = authenticator
				get_x() {
					return this.user
				}
				get_set() {
					Object.assign(this.user ?? {}, { id: 'root', roles: ['admin'] })
					return this.user
				}
				get_push() {
					const roles: unknown = this.user?.roles
					if (Array.isArray(roles)) roles.push('admin')
				}
				get_deep() {
					const team: unknown = this.user?.team
					if (typeof team === 'object' && team !== null) Object.assign(team, { names: ['b'] })
				}
			}
			const { server } = asking({ a: new Spoils() }, {})
			const send = async (url: string): Promise<string> => {
				const { status, text } = await server.inject(injected(signed({ url })))
				return `${status} ${text()}`
			}
			const expected = ok({ id: 'k1', roles: ['reader'], team: { names: ['a'] } })
			assert.is(await send('/a/x'), expected)
			assert.is(await send('/a/set'), ok({ id: 'root', roles: ['admin'], team: { names: ['a'] } }))
			for (const url of ['/a/push', '/a/deep']) assert.match(await send(url), /^500 /)
			assert.is(await send('/a/x'), expected)
			assert.equal(user, { roles: ['reader'], team: { names: ['a'] } })
			user.roles.push('other')
			if (what === 'an object') assert.is(await send('/a/x'), expected)
		})
	}

	test('one valid signature of several is enough', async () => {
		const { send } = site()
		const first = signed({ secret: OTHER, label: 'a' })
		const second = signed({ label: 'b' })
		const headers = [...first.headers, ...second.headers.filter(([name]) => name.startsWith('Signature'))]
		assert.is(await send({ ...second, headers }), ok({ id: 'k1' }))
	})

	test('a fifth signature is not verified', async () => {
		const { send } = site()
		const bad = [1, 2, 3, 4].flatMap((n) => signed({ secret: OTHER, label: `s${n}` }).headers.slice(1))
		const good = signed({ label: 'z' })
		assert.is(await send({ ...good, headers: [...bad, ...good.headers] }), UNAUTHORIZED)
	})

	test('behind a proxy the origin comes from the option, or from a trusted proxy', async () => {
		const request = signed({
			host: 'api.example.com',
			scheme: 'https',
			covered: ['"@method"', '"@target-uri"'],
		})
		const inner = { ...request, headers: [...request.headers.slice(1), ['Host', 'inner:80'] as const] }
		assert.is(await site().send(inner), UNAUTHORIZED)
		assert.is(await site({ origin: 'https://api.example.com' }).send(inner), ok({ id: 'k1' }))
		assert.is(await site({ origin: 'https://API.example.com:443/' }).send(inner), ok({ id: 'k1' }))
		const forwarded = [
			['X-Forwarded-Host', 'API.example.com:443'],
			['X-Forwarded-Proto', 'https'],
		] as const
		const through = { ...inner, headers: [...inner.headers, ...forwarded] }
		assert.is(await site({ trustProxy: 1 }).send(through), ok({ id: 'k1' }))
		assert.is(await site().send(through), UNAUTHORIZED)
	})
})

describe('hmac: refused', (test) => {
	const without = (...names: string[]): Outline => ({
		...POST,
		covered: [
			'"@method"',
			'"@authority"',
			'"@path"',
			'"@query"',
			'"content-type"',
			'"content-digest"',
		].filter((id) => !names.includes(id)),
	})
	const lines = (request: SignedRequest, name: string, value: string): SignedRequest => ({
		...request,
		headers: request.headers.map(([other, before]) => [other, other === name ? value : before]),
	})
	const plus = (request: SignedRequest, name: string, value: string): SignedRequest => ({
		...request,
		headers: [...request.headers, [name, value]],
	})
	const minus = (request: SignedRequest, name: string): SignedRequest => ({
		...request,
		headers: request.headers.filter(([other]) => other !== name),
	})
	const key = 'the signature is not that of key "k1" for this request'
	const bad: [string, () => SignedRequest, string][] = [
		['another secret', () => signed({ secret: OTHER }), key],
		['an unknown key', () => signed({ params: { keyid: '"k9"' } }), 'no key is known as "k9"'],
		[
			'a name of an object',
			() => signed({ params: { keyid: '"constructor"' } }),
			'no key is known as "constructor"',
		],
		[
			'a long key id',
			() => signed({ params: { keyid: `"${'k'.repeat(128)}"` } }),
			`no key is known as "${'k'.repeat(64)}…"`,
		],
		[
			'a key id that is too long',
			() => signed({ params: { keyid: `"${'k'.repeat(129)}"` } }),
			'keyid must have 1 to 128 characters',
		],
		['an empty key id', () => signed({ params: { keyid: '""' } }), 'keyid must have 1 to 128 characters'],
		[
			'a signature of another algorithm',
			() => signed({ params: { alg: '"ed25519"', tag: '"web-bot-auth"' } }),
			'alg is not hmac-sha256',
		],
		['too old', () => signed({ params: { created: String(NOW - 301) } }), 'created is more than 300 s ago'],
		[
			'too far ahead',
			() => signed({ params: { created: String(NOW + 61) } }),
			"created is more than 60 s ahead of the server's clock",
		],
		['expired', () => signed({ params: { expires: String(NOW - 1) } }), 'the signature has expired'],
		['no created', () => signed({ params: { created: undefined } }), 'the parameter created is missing'],
		['no keyid', () => signed({ params: { keyid: undefined } }), 'the parameter keyid is missing'],
		['no nonce', () => signed({ params: { nonce: undefined } }), 'the parameter nonce is missing'],
		['an empty nonce', () => signed({ params: { nonce: '""' } }), 'nonce must have 1 to 128 characters'],
		[
			'a long nonce',
			() => signed({ params: { nonce: `"${'n'.repeat(129)}"` } }),
			'nonce must have 1 to 128 characters',
		],
		[
			'created that is no integer',
			() => signed({ params: { created: `${NOW}.0` } }),
			'created is not an integer',
		],
		['created that is text', () => signed({ params: { created: `"${NOW}"` } }), 'created is not an integer'],
		['expires that is a flag', () => signed({ params: { expires: '?1' } }), 'expires is not an integer'],
		['a keyid that is a token', () => signed({ params: { keyid: 'k1' } }), 'keyid is not a string'],
		['a tag that is a number', () => signed({ params: { tag: '1' } }), 'tag is not a string'],
		['another alg', () => signed({ params: { alg: '"rsa-pss-sha512"' } }), 'alg is not hmac-sha256'],
		['an alg that is a token', () => signed({ params: { alg: 'hmac-sha256' } }), 'alg is not a string'],
		['nothing covered', () => signed({ covered: [] }), '@method is not covered'],
		['no @method', () => signed(without('"@method"')), '@method is not covered'],
		['no @authority', () => signed(without('"@authority"')), '@authority is not covered'],
		['no @path', () => signed(without('"@path"')), '@path is not covered'],
		['no @query', () => signed(without('"@query"')), '@query is not covered'],
		['no content-type', () => signed(without('"content-type"')), 'content-type is not covered'],
		['no content-digest', () => signed(without('"content-digest"')), 'content-digest is not covered'],
		[
			'one member of content-digest',
			() =>
				signed({
					...POST,
					covered: [...(without('"content-digest"').covered ?? []), '"content-digest";key="sha-256"'],
				}),
			'content-digest is not covered',
		],
		[
			'an override that is not signed',
			() => plus(signed({ method: 'POST' }), 'X-HTTP-Method-Override', 'DELETE'),
			'x-http-method-override is not covered',
		],
		['an If-Match that is not signed', () => plus(signed(), 'If-Match', '"1"'), 'if-match is not covered'],
		[
			'an Idempotency-Key that is not signed',
			() => plus(signed(POST), 'Idempotency-Key', '"1"'),
			'idempotency-key is not covered',
		],
		[
			'a body behind a GET that has none',
			() => ({ ...signed(), body: 'abc' }),
			'content-digest is not covered',
		],
		['another method', () => ({ ...signed(POST), method: 'DELETE' }), key],
		['another path', () => ({ ...signed(), url: '/asks/x' }), key],
		['another query', () => ({ ...signed(), url: '/a/x?a' }), key],
		['another host', () => lines(signed(), 'Host', 'localhost:81'), key],
		['another type', () => lines(signed(POST), 'Content-Type', 'text/plain'), key],
		[
			'a covered field that is gone',
			() => minus(signed(POST), 'Content-Type'),
			'the covered field content-type is missing',
		],
		[
			'another body',
			() => ({ ...signed(POST), body: '{"a":2}' }),
			"the body doesn't match its Content-Digest",
		],
		['no body', () => ({ ...signed(POST), body: undefined }), "the body doesn't match its Content-Digest"],
		[
			'an md5 alone',
			() => signed({ ...POST, digest: 'md5' }),
			'Content-Digest has neither sha-256 nor sha-512',
		],
		[
			'a GET with a body that is signed',
			() => signed({ body: 'abc' }),
			"the body of a GET isn't read, so it can't be compared with its Content-Digest",
		],
		[
			'Signature alone',
			() => minus(signed(), 'Signature-Input'),
			'no label has both a Signature-Input and a Signature',
		],
		[
			'Signature-Input alone',
			() => minus(signed(), 'Signature'),
			'no label has both a Signature-Input and a Signature',
		],
		[
			'empty headers',
			() => lines(lines(signed(), 'Signature', ''), 'Signature-Input', ''),
			'no label has both a Signature-Input and a Signature',
		],
		[
			'two labels',
			() => lines(signed(), 'Signature', 'other=:AAAA:'),
			'no label has both a Signature-Input and a Signature',
		],
		[
			'a malformed Signature',
			() => lines(signed(), 'Signature', 'sig=:AA:'),
			'base64 between colons was expected at character 5',
		],
		[
			'a malformed Signature-Input',
			() => lines(signed(), 'Signature-Input', 'sig=("@method"'),
			'a space or ) was expected at character 15',
		],
		[
			'a Signature that is no bytes',
			() => lines(signed(), 'Signature', 'sig="AAAA"'),
			'Signature is not a byte sequence',
		],
		[
			'a Signature in a list',
			() => lines(signed(), 'Signature', 'sig=(:AAAA:)'),
			'Signature is not a byte sequence',
		],
		[
			'a Signature-Input that is no list',
			() => lines(signed(), 'Signature-Input', 'sig="@method"'),
			'Signature-Input is not a list of components',
		],
		['an empty signature', () => lines(signed(), 'Signature', 'sig=::'), key],
		[
			'the first half of the right one',
			() => {
				const request = signed()
				const value = request.headers.find(([name]) => name === 'Signature')?.[1] ?? ''
				const bytes = Buffer.from(value.slice(5, -1), 'base64').subarray(0, 16)
				return lines(request, 'Signature', `sig=:${bytes.toString('base64')}:`)
			},
			key,
		],
		['a second one of its label', () => plus(signed(), 'Signature', 'sig=:AAAA:'), key],
		[
			'one that covers itself',
			() => signed({ covered: ['"@method"', '"@target-uri"', '"@signature-params"'] }),
			'a request has no such derived component',
		],
	]
	const { ask } = site()
	for (const [what, make, reason] of bad) {
		test(`${what}: ${reason}`, async () => {
			const { server, reasons, calls } = site()
			const reply = await server.inject(injected(make()))
			assert.is(`${reply.status} ${reply.text()}`, UNAUTHORIZED)
			// A body without credentials, sent to a method that requires them.
			const none = await ask('/asks/x')
			assert.equal(reply.headers, none.headers)
			assert.equal([reasons(), calls.count], [[reason], 0])
		})
	}

	test('the response says what to sign', async () => {
		const { headers } = await ask('/asks/x')
		assert.is(headers['www-authenticate'], 'Signature realm="api"')
		assert.is(
			headers['accept-signature'],
			'sig=("@method" "@authority" "@path" "@query");created;alg="hmac-sha256", sig-body=("@method" "@authority" "@path" "@query" "content-type" "content-digest");created;alg="hmac-sha256"',
		)
	})

	test('without credentials there is no user, and open methods are served', async () => {
		const { said, reasons } = site()
		assert.is(await said('/a/x'), ok(null))
		assert.equal(reasons(), [])
	})

	test('an impossible key id is not looked up', async () => {
		const asked: string[] = []
		const { send } = site({ keys: (keyid) => void asked.push(keyid) })
		for (const length of [0, 129, 4_000])
			assert.is(await send(signed({ params: { keyid: `"${'k'.repeat(length)}"` } })), UNAUTHORIZED)
		assert.equal(asked, [])
		await send(signed({ params: { keyid: `"${'k'.repeat(128)}"` } }))
		assert.equal(asked, ['k'.repeat(128)])
	})

	for (const name of ['header', 'fieldLines'] as const) {
		test(`a programming error in ${name} is not reported as a bad signature`, async () => {
			const authenticator = new HmacAuthenticator(undefined, new MemoryCache({ max: 9 }), 300, {
				keys: KEYS,
				clock: () => NOW * 1_000,
			})
			const sent = signed({
				...POST,
				headers: [['X-A', '1']],
				covered: ['"@method"', '"@target-uri"', '"x-a"'],
			})
			const values = new Map(sent.headers.map(([header, value]) => [header.toLowerCase(), value]))
			const breaks = (method: string, header: string): void => {
				if (method === name && !header.startsWith('signature')) throw new TypeError('of the program')
			}
			const request = {
				...{
					method: 'GET',
					sentMethod: 'GET',
					url: '/a/x',
					host: 'localhost',
					protocol: 'http',
					hasBody: false,
				},
				header(header: string) {
					breaks('header', header)
					return undefined
				},
				fieldLines(header: string) {
					breaks('fieldLines', header)
					return [values.get(header) ?? '']
				},
			} as unknown as Request // As much of one as is asked for.
			try {
				await authenticator.authenticate(request)
				assert.unreachable()
			} catch (error) {
				assert.is(String(error), 'TypeError: of the program')
			}
		})
	}

	test('a signature of another algorithm is refused on open methods, and ignored next to a good one', async () => {
		const { send } = site()
		const foreign = signed({ label: 'bot', secret: OTHER, params: { alg: '"ed25519"' } })
		assert.is(await send(foreign), UNAUTHORIZED)
		const good = signed({ label: 'z' })
		assert.is(
			await send({ ...good, headers: [...foreign.headers.slice(1), ...good.headers] }),
			ok({ id: 'k1' }),
		)
	})

	test('neither secret nor signature is logged', async () => {
		const { send, lines: logged } = site()
		const request = signed({ secret: OTHER })
		await send(request)
		const text = logged
			.map(({ fields, message }) => message + JSON.stringify({ ...fields, err: String(fields.err) }))
			.join()
		const signature = request.headers.find(([name]) => name === 'Signature')?.[1].slice(5, -1) ?? ''
		assert.ok(text.length > 0 && !text.includes(signature) && !text.includes(SECRET.toString('base64')))
	})
})

describe('hmac: nonces', (test) => {
	test('the same request is refused the second time, however authentication is asked for', async () => {
		const { send, reasons, calls } = site()
		for (const url of ['/a/x', '/asks/x']) {
			const request = signed({ url })
			assert.match(await send(request), /^200 /)
			assert.is(await send(request), UNAUTHORIZED)
			assert.is(
				await send(signed({ url, params: { nonce: /nonce=("\w+")/.exec(String(request.headers))?.[1] } })),
				UNAUTHORIZED,
			)
		}
		assert.is(calls.count, 2)
		assert.equal(new Set(reasons()), new Set(['the nonce of key "k1" was used before']))
	})

	test('of a hundred concurrent copies one is served', async () => {
		const { send, calls } = site()
		const request = signed(POST)
		const answers = await Promise.all(Array.from({ length: 100 }, () => send(request)))
		assert.is(answers.filter((answer) => answer.startsWith('200')).length, 1)
		assert.is(calls.count, 1)
	})

	test('a nonce belongs to its key', async () => {
		const { send } = site({ keys: { k1: SECRET, k2: SECRET, k: SECRET } })
		for (const [keyid, nonce] of [
			['k1', 'n'],
			['k2', 'n'],
			['k', '1n'],
		]) {
			assert.match(await send(signed({ params: { keyid: `"${keyid}"`, nonce: `"${nonce}"` } })), /^200 /)
		}
	})

	test('authenticating a request twice, or concurrently, is not a replay', async () => {
		const { send } = site()
		for (const url of ['/asks/twice', '/asks/parallel']) {
			const request = signed({ url })
			assert.is(await send(request), ok([{ id: 'k1' }, { id: 'k1' }]))
			assert.is(await send(request), UNAUTHORIZED)
		}
	})

	test('a wrong signature does not consume the nonce', async () => {
		const { send } = site()
		const params = { nonce: '"once"' }
		assert.is(await send(signed({ params, secret: OTHER })), UNAUTHORIZED)
		assert.match(await send(signed({ params })), /^200 /)
	})

	test('a nonce is stored as long as its request would be accepted', async () => {
		const added: [string, number][] = []
		class Counting extends MemoryCache {
			override add(key: string, value: string, ttlSeconds: number): boolean {
				added.push([key, ttlSeconds])
				return super.add(key, value, ttlSeconds)
			}
		}
		const { send } = site({ cache: new Counting({ max: 10 }), windowSeconds: 100 })
		await send(signed({ params: { nonce: '"a"', created: String(NOW - 100) } }))
		await send(signed({ params: { nonce: '"b"', created: String(NOW + 60) } }))
		assert.equal(added, [
			['nonce:k1:eNCmBGhWa5mXV1dryd6UCr0hOI-KUQ7peNnc1tOhYaE', 60],
			['nonce:k1:dm5pxinFAq8tedF9lBHfhcYwocORApPoXaNg_91HBKY', 220],
		])
	})

	for (const ahead of [-100, 0, 60]) {
		test(`a request dated ${ahead} s ahead is refused as a replay at any later time`, async () => {
			const time = { seconds: NOW }
			const cache = new MemoryCache({ max: 10, clock: () => time.seconds * 1_000 })
			const one = site({ cache, windowSeconds: 100 })
			const request = signed({ params: { created: String(NOW + ahead) } })
			assert.match(await one.send(request), /^200 /)
			for (let later = 0; later < 400; later += 5) {
				time.seconds = NOW + later
				one.time.seconds = time.seconds
				assert.is(await one.send(request), UNAUTHORIZED)
			}
			// Expired from the cache, and too old by then.
			assert.is(new Set(one.reasons()).size, 2)
		})
	}

	test("a flood of ten times the cache's capacity evicts no nonce", async () => {
		const { send, calls } = site({ cache: new MemoryCache({ max: 50 }) })
		const flood = Array.from({ length: 500 }, () => signed())
		const answers: string[] = []
		for (const request of flood) answers.push((await send(request)).slice(0, 3))
		assert.equal(answers, [...Array(50).fill('200'), ...Array(450).fill('503')])
		for (const request of flood) assert.match(await send(request), /^(?:401|503) /)
		assert.is(calls.count, 50)
	})

	test('a full cache is 503, and the log says what to raise', async () => {
		const { send, logged, lines, calls } = site({ cache: new MemoryCache({ max: 2 }) })
		const first = signed()
		for (const request of [first, signed()]) assert.match(await send(request), /^200 /)
		for (const request of [signed(), first]) {
			assert.match(await send(request), /^(?:503 .*"code":"unavailable"|401)/)
		}
		assert.match(await send(signed({ url: '/asks/x' })), /^503 /)
		assert.is(calls.count, 2)
		const error = lines.findLast(({ level }) => level === 'error')?.fields.err
		assert.is(logged(), 'Service Unavailable')
		assert.is(
			String(error instanceof Error && error.cause),
			"Error: a nonce could not be stored, because the cache holds 2 entries that can't be evicted yet: raise max (signed requests per second × 360 entries are needed)",
		)
	})

	test('a key that has filled its share is 429 with an explanation, and other keys are accepted', async () => {
		const { send, lines } = site({
			cache: new MemoryCache({ max: 1_000, clock: () => 0 }),
			keys: { k1: SECRET, k2: SECRET },
		})
		let last = ''
		for (let sent = 0; sent < 1_000 && !last.startsWith('429'); sent++) last = await send(signed())
		assert.match(last, /^429 .*"error":"Too many requests were signed with this key: wait until /)
		assert.is(lines.at(-1)?.message, 'a caller has filled their share of the cache')
		for (let sent = 0; sent < 50; sent++)
			assert.match(await send(signed({ params: { keyid: '"k2"' } })), /^200 /)
	})

	test('a cache that throws is 503', async () => {
		class Broken extends MemoryCache {
			override add(): never {
				throw new Error('ECONNREFUSED')
			}
		}
		const { send, lines } = site({ cache: new Broken({ max: 2 }) })
		assert.match(await send(signed()), /^503 /)
		const error = lines.at(-1)?.fields.err
		assert.is(String(error instanceof Error && error.cause), 'Error: ECONNREFUSED')
	})

	test('a cache that rejects is 503', async () => {
		const cache = new MemoryCache({ max: 2 })
		cache.add = (() => Promise.reject(new Error('ECONNREFUSED'))) as unknown as MemoryCache['add']
		const { send, lines } = site({ cache })
		assert.match(await send(signed()), /^503 /)
		const error = lines.at(-1)?.fields.err
		assert.is(String(error instanceof Error && error.cause), 'Error: ECONNREFUSED')
	})

	for (const answer of [undefined, 1, 'OK', null]) {
		test(`a cache that returns ${JSON.stringify(answer)} counts as not having added`, async () => {
			class Odd extends MemoryCache {
				override add(): boolean {
					return answer as unknown as boolean
				}
			}
			assert.is(await site({ cache: new Odd({ max: 2 }) }).send(signed()), UNAUTHORIZED)
		})
	}

	test('a key lookup that fails is 500', async () => {
		const fails = () => Promise.reject(new RangeError('no database'))
		for (const keys of [fails, () => 'short', () => 5 as unknown as string]) {
			assert.match(await site({ keys }).send(signed()), /^500 /)
		}
	})
})

describe('hmac: options', (test) => {
	const make = (options: object, windowSeconds: unknown = 300, cache?: unknown, handler?: object): string => {
		try {
			// The wrong type is what is tested.
			new HmacAuthenticator(handler, cache as Cache, windowSeconds as number, options as { keys: HmacKeys })
			return 'taken'
		} catch (error) {
			return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
		}
	}
	const noId = 'is not a key id: it must be 1 to 128 characters of printable ASCII'
	const SECRET_TEXT = SECRET.toString('base64')
	const windows = 'HmacAuthenticator: windowSeconds must be a whole number of seconds from 1 to 86400, got'
	const table: [string, () => string, string][] = [
		['keys', () => make({ keys: KEYS }), 'taken'],
		[
			"an option that there isn't",
			() => make({ keys: KEYS, window: 5 }),
			'TypeError: HmacAuthenticator has no option window; there are keys, origin, clock',
		],
		[
			'no options',
			() => make({}),
			'TypeError: HmacAuthenticator needs options: { keys: { [keyid]: secret } }',
		],
		['a window of 0', () => make({ keys: KEYS }, 0), `RangeError: ${windows} 0`],
		['a window of a week', () => make({ keys: KEYS }, 604_800), `RangeError: ${windows} 604800`],
		['a window of text', () => make({ keys: KEYS }, '300'), `TypeError: ${windows} "300"`],
		[
			'a handler that is none',
			() => make({ keys: KEYS }, 300, undefined, null as unknown as object),
			"TypeError: HmacAuthenticator's first argument must be the handler, or undefined",
		],
		[
			'a cache that is none',
			() => make({ keys: KEYS }, 300, {}),
			"TypeError: HmacAuthenticator's cache must be a Cache, or undefined for the server's",
		],
		[
			'a clock that is none',
			() => make({ keys: KEYS, clock: 5 }),
			'TypeError: HmacAuthenticator: clock must be a function, () => milliseconds since 1970, got 5',
		],
		...['api.example.com', 'ftp://a', 'https://a/b', 'https://a?b', 'https://u@a', '', 5].map(
			(origin): [string, () => string, string] => [
				`the origin ${origin}`,
				() => make({ keys: KEYS, origin }),
				`TypeError: HmacAuthenticator: origin must be scheme, host and port: 'https://api.example.com', got ${JSON.stringify(origin)}`,
			],
		),
		['no keys', () => make({ keys: {} }), 'TypeError: keys is empty: nobody could authenticate'],
		[
			'keys that are none',
			() => make({ keys: 'k1' }),
			'TypeError: HmacAuthenticator: keys must be an object or a Map of secrets by key id, or a function that finds them',
		],
		[
			'keys of a class',
			() => make({ keys: [SECRET] }),
			'TypeError: keys must be a plain object, a Map, or a function',
		],
		[
			'a key named __proto__',
			() => make({ keys: { __proto__: { secret: SECRET } } }),
			'TypeError: keys must be a plain object, a Map, or a function',
		],
		[
			'a key id that no signature can hold',
			() => make({ keys: { ключ: SECRET } }),
			`TypeError: keys: "ключ" ${noId}`,
		],
		['an empty key id', () => make({ keys: { '': SECRET } }), `TypeError: keys: "" ${noId}`],
		[
			'a key id that is too long',
			() => make({ keys: { ['k'.repeat(129)]: SECRET } }),
			`TypeError: keys: "kkkkkk…" ${noId}`,
		],
		['one that is not', () => make({ keys: { ['k'.repeat(128)]: SECRET } }), 'taken'],
		[
			'id and secret swapped',
			() => make({ keys: { [SECRET_TEXT]: 'k1' } }),
			'TypeError: the secret of key "BwcHBw…" must be bytes, or base64 text with its padding: `openssl rand -base64 32` prints one',
		],
		[
			'bytes for a key id',
			() => make({ keys: new Map([[SECRET, 'k1']]) }),
			'TypeError: entry 1 of keys must have text as its key id, got object',
		],
		[
			'a secret among the names of a key',
			() => make({ keys: { k1: { secret: SECRET, [SECRET_TEXT]: [] } } }),
			'TypeError: key "k1" has "BwcHBw…", but may have only secret and user',
		],
		[
			'a short secret',
			() => make({ keys: { k1: Buffer.alloc(31) } }),
			'RangeError: the secret of key "k1" must have at least 32 bytes, got 31',
		],
		[
			'a short one as text',
			() => make({ keys: { k1: 'c2VjcmV0' } }),
			'RangeError: the secret of key "k1" must have at least 32 bytes, got 6',
		],
		[
			'a password',
			() => make({ keys: { k1: 'correct horse' } }),
			'TypeError: the secret of key "k1" must be bytes, or base64 text with its padding: `openssl rand -base64 32` prints one',
		],
		['no secret', () => make({ keys: { k1: [] } }), 'TypeError: key "k1" has no secret'],
		[
			'a key of another shape',
			() => make({ keys: { k1: { secrets: [SECRET] } } }),
			'TypeError: key "k1" must be a secret, a list of them, or { secret, user }',
		],
		[
			'a key that says more',
			() => make({ keys: { k1: { secret: SECRET, roles: [] } } }),
			'TypeError: key "k1" has "roles", but may have only secret and user',
		],
		[
			'a user that is none',
			() => make({ keys: { k1: { secret: SECRET, user: 'ada' } } }),
			'TypeError: the user of key "k1" must be an object, and its id text if present',
		],
		[
			'a user that is a list',
			() => make({ keys: { k1: { secret: SECRET, user: ['ada'] } } }),
			'TypeError: the user of key "k1" must be an object, and its id text if present',
		],
		[
			'a user that is a Map',
			() => make({ keys: { k1: { secret: SECRET, user: new Map([['id', 'ada']]) } } }),
			'TypeError: the user of key "k1" must be an object, and its id text if present',
		],
		[
			'a user whose id is a number',
			() => make({ keys: { k1: { secret: SECRET, user: { id: 5 } } } }),
			'TypeError: the user of key "k1" must be an object, and its id text if present',
		],
	]
	for (const [what, outcome, expected] of table)
		test(`${what}: ${expected}`, () => assert.is(outcome(), expected))
})
