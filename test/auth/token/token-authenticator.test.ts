/** `TokenAuthenticator`: which tokens are accepted, how others are refused, and which declarations are refused. */
import * as assert from 'uvu/assert'
import {
	newToken,
	TokenAuthenticator,
	type TokenAuthenticatorOptions,
	tokenDigest,
} from '../../../lib/auth/token/token-authenticator.ts'
import type { TokenUser, TokenUsers } from '../../../lib/auth/token/token-users.ts'
import { RestHandler, RoleAcl } from '../../../lib/index.ts'
import { type Asking, asking, messageOf, ok } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { listening } from '../../helpers/listening.ts'
import { ask as askRaw, requestText } from '../../helpers/raw.ts'

const NOON = Date.UTC(2026, 10, 21, 12)
const ADA = 'acme_ada-of.the~first+kind/x=='
const OLD = 'acme_old'
const LONGEST = 'a'.repeat(1_024)

const users: Record<string, TokenUser> = {
	[tokenDigest(ADA)]: { id: 'ada', roles: ['editor'], expires: new Date(NOON + 1) },
	[tokenDigest('acme_bob').toUpperCase()]: { id: 'bob', roles: ['reader'], expires: null },
	[tokenDigest(OLD)]: { id: 'old', expires: new Date(NOON) },
	[tokenDigest(LONGEST)]: { id: 'long', expires: '2026-11-21T13:00:01+01:00' },
	[tokenDigest('two')]: { id: 'ada', expires: '2026-11-22' },
	[tokenDigest('ended')]: { id: 'ada', expires: '2026-11-21' },
	[tokenDigest('a{b}"c')]: { id: 'odd' },
}

class Blog extends RestHandler {
	override access = { get_me: 'user', post_article: ['article:write'] }
	get_me() {
		return this.user?.id
	}
	get_open() {
		return this.user?.id ?? 'nobody'
	}
	post_article() {
		return 'written'
	}
	async get_asked() {
		const keys = new TokenAuthenticator({ tokens: users, header: 'X-Other', clock: () => NOON })
		return (await this.requireAuth(keys)).id
	}
}

class Spoils extends RestHandler {
	get_me() {
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
}

/** A thenable that is not a promise. */
function thenable<T>(value: T): PromiseLike<T> {
	const settled = Promise.resolve(value)
	// biome-ignore lint/suspicious/noThenProperty: it is what is tested
	return { then: (done, failed) => settled.then(done, failed) }
}

const acl = new RoleAcl({ reader: [], editor: ['article:*'] })

function served(options: Partial<TokenAuthenticatorOptions> = {}): Asking {
	const authenticator = new TokenAuthenticator({ tokens: users, clock: () => NOON, ...options })
	return asking({ blog: new Blog() }, { authenticator, acl })
}

const bearer = (token: string): { headers: Record<string, string> } => ({
	headers: { Authorization: `Bearer ${token}` },
})
const INVALID = '401 {"success":false,"error":"The bearer token is not valid","code":"unauthorized"}'
const UNAUTHORIZED = '401 {"success":false,"error":"Unauthorized","code":"unauthorized"}'
const REFUSED = 'credentials were refused'
const FORBIDDEN = '403 {"success":false,"error":"Forbidden","code":"forbidden"}'

/** The same users, as each kind of declaration. */
const kinds: readonly (readonly [kind: string, tokens: TokenUsers])[] = [
	['an object', users],
	['a Map', new Map(Object.entries(users))],
	['a function', (digest) => users[digest] ?? users[digest.toUpperCase()]],
	['an asynchronous function', async (digest) => users[digest] ?? users[digest.toUpperCase()] ?? null],
]

describe('bearer tokens', (test) => {
	const table: readonly (readonly [authorization: string | undefined, answer: string])[] = [
		[`Bearer ${ADA}`, ok('ada')],
		[`bearer ${ADA}`, ok('ada')],
		[`BEARER   ${ADA}`, ok('ada')],
		['Bearer acme_bob', ok('bob')],
		['Bearer two', ok('ada')],
		[`Bearer ${LONGEST}`, ok('long')],
		[undefined, UNAUTHORIZED],
		['', UNAUTHORIZED],
		[`Basic ${ADA}`, UNAUTHORIZED],
		[`Bearer${ADA}`, UNAUTHORIZED],
		[ADA, UNAUTHORIZED],
		['Bearer acme_eve', INVALID],
		[`Bearer ${OLD}`, INVALID],
		['Bearer ended', INVALID],
		['Bearer', INVALID],
		['Bearer ', INVALID],
		[`Bearer ${ADA}, Bearer ${ADA}`, INVALID],
		[`Bearer ${ADA} ${ADA}`, INVALID],
		[`Bearer\t${ADA}`, UNAUTHORIZED],
		['Bearer a{b}"c', INVALID],
		['Bearer =', INVALID],
		[`Bearer ${LONGEST}a`, INVALID],
		[`Bearer ${tokenDigest(ADA)}`, INVALID],
		['Bearer __proto__', INVALID],
	]
	for (const [kind, tokens] of kinds) {
		for (const [authorization, answer] of table) {
			test(`${kind}: ${authorization?.slice(0, 50)} → ${answer.slice(0, 60)}`, async () => {
				const headers = authorization === undefined ? {} : { Authorization: authorization }
				assert.is(await served({ tokens }).said('/blog/me', { headers }), answer)
			})
		}
	}

	test('the challenge has an error only where a token was sent', async () => {
		const { ask } = served({ realm: 'the blog' })
		const challengeFor = async (headers: Record<string, string>): Promise<unknown> =>
			(await ask('/blog/me', { headers })).headers['www-authenticate']
		assert.is(await challengeFor({}), 'Bearer realm="the blog"')
		assert.is(await challengeFor({ Authorization: 'Basic eA==' }), 'Bearer realm="the blog"')
		const refused = 'Bearer realm="the blog", error="invalid_token"'
		assert.is(await challengeFor({ Authorization: 'Bearer x' }), refused)
		assert.is(await challengeFor({ Authorization: 'Bearer' }), refused)
	})

	test('open methods do not require a token, and refuse a bad one', async () => {
		const { said } = served()
		assert.is(await said('/blog/open'), ok('nobody'))
		assert.is(await said('/blog/open', bearer(ADA)), ok('ada'))
		assert.is(await said('/blog/open', bearer('guessed')), INVALID)
	})

	const reasons: readonly (readonly [token: string, reason: string])[] = [
		['acme_eve', 'the token is not known'],
		[OLD, 'the token of user "old" has expired'],
		['acme_eve!', 'the header does not hold exactly one well-formed token'],
		[`${LONGEST}a`, 'the header does not hold exactly one well-formed token'],
	]
	for (const [token, reason] of reasons) {
		test(`only the log has the reason: ${reason}`, async () => {
			const { said, lines } = served()
			assert.is(await said('/blog/open', bearer(token)), INVALID)
			const [line] = lines
			assert.is(`${line?.level}: ${line?.message}: ${line?.fields.err}`, `warn: ${REFUSED}: Error: ${reason}`)
			assert.not.ok(`${JSON.stringify(lines)} ${line?.fields.err}`.includes(token))
		})
	}

	for (const [kind, tokens] of [...kinds, ['a query', (digest) => thenable(users[digest])]] as typeof kinds) {
		test(`changes a method makes to its user affect no other request, with tokens from ${kind}`, async () => {
			const { said, lines } = asking(
				{ blog: new Spoils() },
				{ authenticator: new TokenAuthenticator({ tokens, clock: () => NOON }), acl },
			)
			const before = ok({ id: 'ada', roles: ['editor'] })
			// `expires` belongs to the token, not to the user.
			assert.is(await said('/blog/me', bearer(ADA)), before)
			assert.is(await said('/blog/set', bearer(ADA)), ok({ id: 'root', roles: ['admin'] }))
			assert.match(await said('/blog/push', bearer(ADA)), /^500 /)
			assert.match(
				String(lines.at(-1)?.fields.err),
				/^TypeError: Cannot add property 1, object is not extensible/,
			)
			assert.is(await said('/blog/me', bearer(ADA)), before)
			assert.equal(users[tokenDigest(ADA)]?.roles, ['editor'])
		})
	}

	test('an instance of a class is passed unchanged', async () => {
		class Account {
			readonly id = 'ada'
			readonly #secret = 'kept'
			get kept() {
				return this.#secret
			}
		}
		class Asks extends RestHandler {
			get_kept() {
				return this.user?.kept
			}
		}
		const tokens = (): TokenUser => new Account() as unknown as TokenUser // A class has no index signature.
		const { said } = asking({ blog: new Asks() }, { authenticator: new TokenAuthenticator({ tokens }) })
		assert.is(await said('/blog/kept', bearer('any')), ok('kept'))
	})

	test("the user's roles are checked by RoleAcl", async () => {
		const { said } = served()
		assert.is(await said('POST /blog/article', bearer(ADA)), ok('written'))
		assert.is(await said('POST /blog/article', bearer('acme_bob')), FORBIDDEN)
	})

	test('a token expires while the server runs', async () => {
		let now = NOON
		const { said } = served({ clock: () => now })
		assert.is(await said('/blog/me', bearer(ADA)), ok('ada'))
		now++
		assert.is(await said('/blog/me', bearer(ADA)), INVALID)
	})

	test('a new token authenticates its user, by the system clock', async () => {
		const { token, digest } = newToken('acme_')
		const expires = new Date(Date.now() + 60_000)
		const { said } = asking(
			{ blog: new Blog() },
			{ authenticator: new TokenAuthenticator({ tokens: { [digest]: { id: 'eve', expires } } }), acl },
		)
		assert.is(await said('/blog/me', bearer(token)), ok('eve'))
	})

	test('tokens in the URL are ignored', async () => {
		assert.is(await served().said(`/blog/me?access_token=${ADA}&api_key=${ADA}`), UNAUTHORIZED)
	})

	const wire: readonly (readonly [line: string, headers: readonly string[], status: number])[] = [
		['GET /blog/me', [`Authorization: Bearer ${ADA}`], 200],
		['GET /blog/me', ['Authorization: Bearer guessed'], 401],
		['POST /blog/article', ['Content-Length: 1000000', 'Authorization: Bearer guessed'], 401],
		['GET /blog/open', [`Authorization: Bearer ${ADA}`, 'Authorization: Bearer guessed'], 401],
		['GET /blog/open', [`Authorization: Bearer ${ADA}`, `authorization: Bearer ${ADA}`], 401],
		['GET /blog/open', [`Authorization: Bearer ${ADA}`, 'Authorization: Basic eA=='], 401],
		['GET /blog/open', ['Authorization: Basic eA==', `Authorization: Bearer ${ADA}`], 401],
		['GET /blog/open', ['Authorization: Basic eA==', 'Authorization: Basic eA=='], 200],
	]
	for (const [line, headers, status] of wire) {
		test(`over a socket: ${line} with ${headers} is ${status}`, () => {
			const authenticator = new TokenAuthenticator({ tokens: users, clock: () => NOON })
			return listening({ blog: new Blog() }, { authenticator, acl }, async ({ port }) => {
				const answer = await askRaw(port, requestText(line, headers))
				assert.is(answer.status, status)
				const refused = 'Bearer realm="api", error="invalid_token"'
				assert.is(answer.headers['www-authenticate'], status === 401 ? refused : undefined)
			})
		})
	}
})

describe('API keys', (test) => {
	const BAD = '401 {"success":false,"error":"The key in X-Api-Key is not valid","code":"unauthorized"}'
	const table: readonly (readonly [headers: Record<string, string | string[]>, answer: string])[] = [
		[{ 'X-Api-Key': ADA }, ok('ada')],
		[{ 'x-api-key': 'acme_bob' }, ok('bob')],
		[{ 'X-Api-Key': 'a{b}"c' }, ok('odd')],
		[{}, UNAUTHORIZED],
		[{ Authorization: `Bearer ${ADA}` }, UNAUTHORIZED],
		[{ 'X-Api-Key': 'guessed' }, BAD],
		[{ 'X-Api-Key': OLD }, BAD],
		[{ 'X-Api-Key': '' }, BAD],
		[{ 'X-Api-Key': [ADA, ADA] }, BAD],
		[{ 'X-Api-Key': [ADA, 'acme_bob'] }, BAD],
		[{ 'X-Api-Key': `Bearer ${ADA}` }, BAD],
		[{ 'X-Api-Key': 'a'.repeat(1_025) }, BAD],
		[{ 'X-Api-Key': 'ä' }, BAD],
	]
	for (const [headers, answer] of table) {
		test(`${JSON.stringify(headers).slice(0, 70)} → ${answer.slice(0, 80)}`, async () => {
			assert.is(await served({ header: 'X-Api-Key' }).said('/blog/me', { headers }), answer)
		})
	}

	test('every 401 names the header', async () => {
		const { ask } = served({ header: 'X-Api-Key' })
		for (const headers of [{}, { 'X-Api-Key': 'guessed' }]) {
			const answer = await ask('/blog/me', { headers })
			assert.is(answer.headers['www-authenticate'], 'ApiKey realm="api", header="X-Api-Key"')
		}
	})

	test('required by a method, its refusals have its own challenge', async () => {
		const { ask } = served()
		for (const headers of [{}, { 'X-Other': 'guessed' }]) {
			const answer = await ask('/blog/asked', { headers })
			assert.is(answer.status, 401)
			assert.is(answer.headers['www-authenticate'], 'ApiKey realm="api", header="X-Other"')
		}
		assert.is((await ask('/blog/asked', { headers: { 'X-Other': 'two' } })).status, 200)
	})
})

describe('a token lookup function', (test) => {
	test('receives only the digest, and is not called for malformed tokens', async () => {
		const asked: string[] = []
		const { said } = served({
			tokens: (digest) => {
				asked.push(digest)
				return null
			},
		})
		for (const token of ['secret', 'a b', `${LONGEST}a`]) await said('/blog/me', bearer(token))
		assert.equal(asked, [tokenDigest('secret')])
	})

	const failing: readonly (readonly [what: string, tokens: () => unknown, logged: string])[] = [
		[
			'throws',
			() => {
				throw new Error('no database')
			},
			'no database',
		],
		['rejects', () => Promise.reject(new Error('no database')), 'no database'],
		[
			'answers no user',
			() => ({ name: 'ada' }),
			"authenticate() must return a user, { id: '…' }, or null for no credentials",
		],
		[
			'answers false',
			() => false,
			"authenticate() must return a user, { id: '…' }, or null for no credentials",
		],
		[
			'answers an end that is none',
			() => ({ id: 'ada', expires: '2027-01-31 12:00' }),
			"expires of user \"ada\" must be a Date, or text like '2027-01-31' or '2027-01-31T12:00:00Z'",
		],
	]
	for (const [what, tokens, message] of failing) {
		test(`that ${what} lets nobody in, and the token is in no log and no response`, async () => {
			const { ask, logged, lines } = served({ tokens: tokens as unknown as TokenUsers })
			const answer = await ask('/blog/open', bearer('acme_secret'))
			assert.is(answer.status, 500)
			assert.is(logged(), message)
			const written = `${answer.text()} ${JSON.stringify(answer.headers)} ${String(lines[0]?.fields.err)}`
			assert.not.match(`${written} ${JSON.stringify(lines)}`, 'acme_secret')
		})
	}
})

describe('TokenAuthenticator refuses', (test) => {
	const digest = tokenDigest('a')
	const hash =
		'must have a SHA-256 digest as its key, 64 hex digits: tokens are stored hashed, so write tokenDigest(token), or what printf %s "$TOKEN" | sha256sum prints'
	const kinds =
		"tokens must map digests to users: { [tokenDigest(token)]: { id: 'ada' } }, a Map, or a function that looks up a digest"
	const expires = "expires of user \"a\" must be a Date, or text like '2027-01-31' or '2027-01-31T12:00:00Z'"
	const needs = 'TokenAuthenticator needs options: { tokens: { [tokenDigest(token)]: user } }'
	const table: readonly (readonly [options: unknown, message: string])[] = [
		[undefined, needs],
		[{}, needs],
		[{ tokens: undefined }, kinds],
		[{ tokens: null }, kinds],
		[{ tokens: ['secret'] }, kinds],
		[{ tokens: 'secret' }, kinds],
		[{ tokens: { secret: { id: 'ada' } } }, `entry 1 of tokens (user "ada") ${hash}`],
		[{ tokens: new Map([['secret', { id: 'ada' }]]) }, `entry 1 of tokens (user "ada") ${hash}`],
		[
			{ tokens: { [digest]: { id: 'a' }, [`${digest}0`]: { id: 'b' } } },
			`entry 2 of tokens (user "b") ${hash}`,
		],
		[{ tokens: new Map([[5, { id: 'ada' }]]) }, `entry 1 of tokens (user "ada") ${hash}`],
		[
			{ tokens: { [digest]: { id: 'a' }, [digest.toUpperCase()]: { id: 'b' } } },
			`entry 2 of tokens (user "b") repeats an earlier entry's token: use another`,
		],
		...[null, 'ada', {}, { id: 7 }].map(
			(user) =>
				[
					{ tokens: { [digest]: user } },
					"entry 1 of tokens must map the token's digest to a user, { id: '…' }",
				] as const,
		),
		[{ tokens: {} }, 'tokens is empty: nobody could authenticate'],
		[{ tokens: new Map() }, 'tokens is empty: nobody could authenticate'],
		...[
			new Date(Number.NaN),
			1_900_000_000,
			'soon',
			'2027-01-31T12:00',
			'2027-13-01',
			'2026-02-31',
			'2026-02-29T12:00:00Z',
			'2026-04-31T00:00Z',
			'2026-00-01',
			'2026-01-00',
			'',
		].map((end) => [{ tokens: { [digest]: { id: 'a', expires: end } } }, expires] as const),
		[{ tokens: {}, headers: 'X' }, 'TokenAuthenticator has no option headers: did you mean header?'],
		...[
			'Host',
			'cookie',
			'Content-Type',
			'If-Match',
			'X-HTTP-Method-Override',
			'Signature-Input',
			'Idempotency-Key',
			'X-Forwarded-For',
			'Accept',
			'Proxy-Authorization',
		].map(
			(header) =>
				[
					{ tokens: {}, header },
					`TokenAuthenticator: header must not be ${header}, which has another meaning: use 'X-Api-Key'`,
				] as const,
		),
		[{ tokens: {}, header: 5 }, "TokenAuthenticator: header must be a header's name: 'X-Api-Key', got 5"],
		[{ tokens: {}, header: 'X Key' }, 'Header name must be a valid HTTP token ["X Key"]'],
		[
			{ tokens: {}, header: 'authorization' },
			'TokenAuthenticator: header must not be Authorization: leave it out to read Authorization: Bearer',
		],
		...['', 'a"b', 'a\\b', 'ä', 'a\n', 5].map(
			(realm) =>
				[
					{ tokens: {}, realm },
					`TokenAuthenticator: realm must be text of visible ASCII characters and spaces, without " and \\, got ${JSON.stringify(realm)}`,
				] as const,
		),
		[
			{ tokens: {}, clock: 5 },
			'TokenAuthenticator: clock must be a function, () => milliseconds since 1970, got 5',
		],
	]
	for (const [options, message] of table) {
		test(JSON.stringify(message).slice(0, 110), () => {
			assert.is(
				messageOf(() => new TokenAuthenticator(options as TokenAuthenticatorOptions)),
				message,
			)
			assert.not.match(message, 'secret')
		})
	}

	for (const [end, at] of [
		['2028-02-29', Date.UTC(2028, 1, 29)],
		['2026-12-31T23:59:59-11:00', Date.UTC(2027, 0, 1, 10, 59, 59)],
	] as const) {
		test(`an expiry of ${end}`, async () => {
			let now = at - 1
			const { said } = served({ tokens: { [digest]: { id: 'a', expires: end } }, clock: () => now })
			assert.is(await said('/blog/me', bearer('a')), ok('a'))
			now = at
			assert.is(await said('/blog/me', bearer('a')), INVALID)
		})
	}

	test('no later change of what was declared has an effect', async () => {
		const tokens = new Map([[digest, { id: 'a' }]])
		const { said } = served({ tokens })
		tokens.clear()
		assert.is(await said('/blog/me', bearer('a')), ok('a'))
	})
})
