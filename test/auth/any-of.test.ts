/** `anyOf`: several authenticators as one. */
import * as assert from 'uvu/assert'
import { anyOf } from '../../lib/auth/any-of.ts'
import { TokenAuthenticator, tokenDigest } from '../../lib/auth/token/token-authenticator.ts'
import { type Authenticator, type Request, RestError, RestHandler, type User } from '../../lib/index.ts'
import { type Asking, asking, messageOf, ok } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { ask as askRaw, requestText } from '../helpers/raw.ts'

const bearer = new TokenAuthenticator({ tokens: { [tokenDigest('good')]: { id: 'ada' } } })
const keys = new TokenAuthenticator({
	tokens: { [tokenDigest('key')]: { id: 'bob' }, [tokenDigest('key-of-ada')]: { id: 'ada' } },
	header: 'X-Api-Key',
})

/** Like a signature authenticator: accepts `X-Sign: good`, says what to sign, and counts its calls. */
class Signing implements Authenticator {
	asked = 0
	readonly challenge = {
		'www-authenticate': 'Signature realm="api"',
		'Accept-Signature': 'sig1=("@method" "@path");nonce',
	}
	async authenticate(request: Request): Promise<User | null> {
		this.asked++
		const sent = request.header('X-Sign')
		await new Promise(setImmediate)
		if (sent === 'bad') {
			const headers = { 'WWW-Authenticate': 'Signature realm="api", error="bad"' }
			throw new RestError('unauthorized', 'Bad signature', {
				details: [DETAIL],
				headers,
				cause: new Error('why'),
			})
		}
		if (sent === 'full') throw new RestError('unavailable', 'No room for nonces')
		if (sent === 'broken') throw new Error('no cache')
		return sent === undefined ? null : { id: 'signer' }
	}
}

const DETAIL = { field: 'x-sign', code: 'bad', message: 'It is bad' }

class Blog extends RestHandler {
	override access = { get_me: 'user' }
	get_me() {
		return this.user?.id
	}
	get_open() {
		return this.user?.id ?? 'nobody'
	}
	async get_required() {
		return (await this.requireAuth()).id
	}
}

function served(authenticator: Authenticator): Asking {
	return asking({ blog: new Blog() }, { authenticator })
}

const UNAUTHORIZED = '401 {"success":false,"error":"Unauthorized","code":"unauthorized"}'
const BEARER = '401 {"success":false,"error":"The bearer token is not valid","code":"unauthorized"}'
const KEY = '401 {"success":false,"error":"The key in X-Api-Key is not valid","code":"unauthorized"}'
const SIGNATURE =
	'401 {"success":false,"error":"Bad signature","code":"unauthorized","details":[{"field":"x-sign","code":"bad","message":"It is bad"}]}'
const TWO =
	'400 {"success":false,"error":"Credentials of more than one kind were sent: send one","code":"bad_request"}'
const FULL = '503 {"success":false,"error":"No room for nonces","code":"unavailable"'
const good = { Authorization: 'Bearer good' }
const guessed = { Authorization: 'Bearer guessed' }

describe('anyOf', (test) => {
	const table: readonly (readonly [headers: Record<string, string>, answer: string])[] = [
		[{}, UNAUTHORIZED],
		[{ Authorization: 'Basic eA==' }, UNAUTHORIZED],
		[good, ok('ada')],
		[{ 'X-Api-Key': 'key' }, ok('bob')],
		[{ 'X-Sign': 'good' }, ok('signer')],
		[guessed, BEARER],
		[{ 'X-Api-Key': 'guessed' }, KEY],
		[{ 'X-Sign': 'bad' }, SIGNATURE],
		[{ ...good, 'X-Api-Key': 'guessed' }, KEY],
		[{ ...guessed, 'X-Api-Key': 'key' }, BEARER],
		[{ ...good, 'X-Sign': 'bad' }, SIGNATURE],
		[{ ...good, 'X-Api-Key': 'key', 'X-Sign': 'bad' }, SIGNATURE],
		[{ ...good, 'X-Api-Key': 'key' }, TWO],
		[{ ...good, 'X-Api-Key': 'key-of-ada' }, TWO],
		[{ 'X-Api-Key': 'key', 'X-Sign': 'good' }, TWO],
		[{ 'X-Sign': 'full' }, FULL],
		[{ ...good, 'X-Sign': 'full' }, FULL],
		[{ ...guessed, 'X-Sign': 'full' }, BEARER],
	]
	for (const [headers, answer] of table) {
		test(`${JSON.stringify(headers)} → ${answer}`, async () => {
			const { said } = served(anyOf(bearer, keys, new Signing()))
			assert.is((await said('/blog/me', { headers })).slice(0, answer.length), answer)
		})
	}

	for (const order of [
		[bearer, keys],
		[keys, bearer],
	]) {
		test('bad credentials are refused next to good ones, in any order, also on open methods', async () => {
			const { said } = served(anyOf(...order))
			assert.is(await said('/blog/open'), ok('nobody'))
			assert.is(await said('/blog/open', { headers: good }), ok('ada'))
			assert.is(await said('/blog/open', { headers: { ...good, 'X-Api-Key': 'guessed' } }), KEY)
			assert.is(await said('/blog/open', { headers: { ...guessed, 'X-Api-Key': 'key' } }), BEARER)
		})
	}

	test('each is called once per request, in order, even when a method requires it again', async () => {
		const order: string[] = []
		const named = (name: string): Authenticator => ({
			authenticate() {
				order.push(name)
				return name === 'b' ? { id: 'b' } : null
			},
		})
		const { said } = served(anyOf(named('a'), named('b'), named('c')))
		assert.is(await said('/blog/required'), ok('b'))
		assert.equal(order, ['a', 'b', 'c'])
	})

	test('none is called after one that has refused', async () => {
		const signing = new Signing()
		await served(anyOf(bearer, signing)).said('/blog/open', { headers: guessed })
		assert.is(signing.asked, 0)
	})

	test('the reason for a refusal is logged', async () => {
		const { ask, lines } = served(anyOf(bearer, new Signing()))
		assert.is((await ask('/blog/open', { headers: { 'X-Sign': 'bad' } })).status, 401)
		assert.equal(
			lines.map(({ level, fields }) => `${level} ${fields.err}`),
			['warn Error: why'],
		)
	})

	test('one can be nested in another', async () => {
		const { said, ask } = served(anyOf(anyOf(bearer, keys), new Signing()))
		assert.is(await said('/blog/me', { headers: { 'X-Api-Key': 'key' } }), ok('bob'))
		assert.is(await said('/blog/me', { headers: { ...good, 'X-Sign': 'good' } }), TWO)
		const { headers } = await ask('/blog/me', { headers: guessed })
		assert.is(
			headers['www-authenticate'],
			'Bearer realm="api", error="invalid_token", ApiKey realm="api", header="X-Api-Key", Signature realm="api"',
		)
	})

	test('one that fails is 500, and logged', async () => {
		const { ask, logged } = served(anyOf(bearer, new Signing()))
		assert.is((await ask('/blog/open', { headers: { ...good, 'X-Sign': 'broken' } })).status, 500)
		assert.is(logged(), 'no cache')
	})

	for (const answer of [undefined, false, {}, { id: 5 }]) {
		test(`one that returns ${JSON.stringify(answer)} lets nobody in`, async () => {
			const odd = { authenticate: () => answer as unknown as User }
			const { ask, logged } = served(anyOf(bearer, odd))
			for (const path of ['/blog/me', '/blog/open']) assert.is((await ask(path)).status, 500)
			assert.is(logged(), "authenticate() must return a user, { id: '…' }, or null for no credentials")
		})
	}
})

describe('anyOf: the challenge', (test) => {
	const all = anyOf(bearer, keys, new Signing())
	const ALL = 'Bearer realm="api", ApiKey realm="api", header="X-Api-Key", Signature realm="api"'
	const REFUSED = ALL.replace('"api"', '"api", error="invalid_token"')
	const SIGN = 'sig1=("@method" "@path");nonce'

	const table: readonly (readonly [headers: Record<string, string>, authenticate: string])[] = [
		[{}, ALL],
		[{ 'X-Api-Key': 'guessed' }, ALL],
		[{ 'X-Sign': 'bad' }, `${ALL}, error="bad"`],
		[guessed, REFUSED],
	]
	for (const [headers, authenticate] of table) {
		test(`of ${JSON.stringify(headers)} has those of all: ${authenticate}`, async () => {
			const answer = await served(all).ask('/blog/me', { headers })
			assert.is(answer.status, 401)
			assert.is(answer.headers['www-authenticate'], authenticate)
			assert.is(answer.headers['accept-signature'], SIGN)
		})
	}

	test('is one header over a socket too', () =>
		listening({ blog: new Blog() }, { authenticator: all }, async ({ port }) => {
			const lines = [requestText('GET /blog/me'), requestText('GET /blog/me', ['Authorization: Bearer x'])]
			const [none, bad] = await Promise.all(lines.map((line) => askRaw(port, line)))
			assert.is(none?.headers['www-authenticate'], ALL)
			assert.is(bad?.headers['www-authenticate'], REFUSED)
			assert.is(bad?.headers['accept-signature'], SIGN)
		}))

	test('is Bearer for those without one, and lists each only once', () => {
		const plain = (challenge?: Record<string, string>): Authenticator => ({
			authenticate: () => null,
			...(challenge === undefined ? undefined : { challenge }),
		})
		assert.equal(anyOf(plain(), plain()).challenge, { 'WWW-Authenticate': 'Bearer' })
		const both = anyOf(
			plain({ 'WWW-Authenticate': 'A', 'X-More': '1' }),
			plain({ 'www-authenticate': 'B', 'x-more': '1', 'X-Other': '2' }),
			plain(),
		)
		assert.equal(both.challenge, { 'WWW-Authenticate': 'A, B, Bearer', 'X-More': '1', 'X-Other': '2' })
	})
})

describe('anyOf refuses', (test) => {
	const challenge =
		"the challenge of argument 2 of anyOf() must be { 'WWW-Authenticate': '…' }, with text as values"
	const some = (value: unknown): unknown => ({ authenticate: () => null, challenge: value })
	const table: readonly (readonly [what: string, all: unknown[], message: string])[] = [
		['nothing', [], 'anyOf() needs at least two authenticators'],
		['one', [bearer], 'anyOf() needs at least two authenticators'],
		['an array', [[bearer, keys], bearer], 'argument 1 of anyOf() must have a method authenticate'],
		['undefined', [bearer, undefined], 'argument 2 of anyOf() must have a method authenticate'],
		['a class', [bearer, Signing], 'argument 2 of anyOf() must have a method authenticate'],
		['no function', [bearer, { authenticate: 'x' }], 'argument 2 of anyOf() must have a method authenticate'],
		['one twice', [bearer, keys, bearer], 'argument 3 of anyOf() repeats an earlier one'],
		['a challenge of text', [bearer, some('Bearer')], challenge],
		['a challenge of null', [bearer, some(null)], challenge],
		['a challenge with a list', [bearer, some({ 'WWW-Authenticate': ['A'] })], challenge],
	]
	for (const [what, all, message] of table) {
		test(`${what}: ${message}`, () =>
			assert.is(
				messageOf(() => anyOf(...(all as Authenticator[]))),
				message,
			))
	}

	test('a challenge that no header can hold, at mount', () => {
		const loud = { authenticate: () => null, challenge: { 'WWW-Authenticate': 'A\r\nX: y' } }
		assert.throws(() => served(anyOf(bearer, loud)), /Invalid character/)
	})
})
