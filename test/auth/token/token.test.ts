/** `newToken` and `tokenDigest`. */
import * as assert from 'uvu/assert'
import { newToken, tokenDigest } from '../../../lib/auth/token/token-authenticator.ts'
import { describe } from '../../helpers/describe.ts'

describe('newToken', (test) => {
	test('has 256 random bits after the prefix, and the matching digest', () => {
		const { token, digest } = newToken('acme_')
		assert.match(token, /^acme_[\w-]{43}$/)
		assert.is(Buffer.from(token.slice(5), 'base64url').length, 32)
		assert.is(digest, tokenDigest(token))
		assert.match(newToken().token, /^[\w-]{43}$/)
	})

	test('a thousand calls return different tokens', () => {
		assert.is(new Set(Array.from({ length: 1_000 }, () => newToken().token)).size, 1_000)
	})

	for (const prefix of ['a b', 'ä', 'a:', 'a'.repeat(33), 'a\n', 5, null]) {
		test(`refuses the prefix ${JSON.stringify(prefix)}`, () => {
			assert.throws(
				() => newToken(prefix as string),
				(error: unknown) =>
					error instanceof TypeError &&
					error.message === "the prefix of a token must be up to 32 letters, digits and _ - . ~: 'acme_'",
			)
		})
	}
})

describe('tokenDigest', (test) => {
	// FIPS 180-4, the example of one block; and what `printf %s 'key-of-ada' | sha256sum` prints.
	const table: readonly (readonly [token: string, digest: string])[] = [
		['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
		['key-of-ada', '5532e44183f47ed1fc146851b96d585c24da5bd5fe31a885cebc357261ed8f7f'],
	]
	for (const [token, digest] of table) test(token, () => assert.is(tokenDigest(token), digest))

	for (const token of [undefined, null, 5, '', 'a b', 'a\n', 'ä', '\x7f', 'a'.repeat(1_025)]) {
		test(`refuses ${JSON.stringify(token)?.slice(0, 10)}, which is not a token`, () => {
			assert.throws(
				() => tokenDigest(token as string),
				(error: unknown) =>
					error instanceof TypeError &&
					error.message === 'a token must be text of 1 to 1,024 visible ASCII characters, without spaces',
			)
		})
	}

	test('accepts the longest token', () => assert.is(tokenDigest('a'.repeat(1_024)).length, 64))
})
