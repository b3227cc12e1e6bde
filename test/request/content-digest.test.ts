import * as assert from 'uvu/assert'
import { ContentDigest } from '../../lib/request/content-digest.ts'
import { VECTORS } from '../auth/hmac/vectors.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const KNOWN = ['sha-256', 'sha-512']
const samples = VECTORS.digests.samples.map((sample) => {
	const [name = ''] = sample.alg.split(' ')
	return { ...sample, name, bytes: Buffer.from(sample.input) }
})
const BODY = Buffer.from('{"hello": "world"}')
const SHA_256 = 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:'
const SHA_512 =
	'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:'
const WRONG = `sha-256=:${Buffer.alloc(32).toString('base64')}:`

describe('content digest', (test) => {
	for (const { name, input, value, bytes } of samples) {
		const header = `${name}=${value}`
		if (!KNOWN.includes(name)) {
			test(`${name} alone is refused`, () =>
				assert.is(
					messageOf(() => new ContentDigest(header)),
					'Content-Digest has neither sha-256 nor sha-512',
				))
			continue
		}
		test(`RFC 9530: ${name} of ${JSON.stringify(input)}`, () => {
			assert.ok(new ContentDigest(header).matches(bytes))
			assert.not(new ContentDigest(header).matches(Buffer.concat([bytes, Buffer.from(' ')])))
			const hashing = new ContentDigest(header).hashing()
			for (const byte of bytes) hashing.update(Uint8Array.of(byte))
			assert.ok(hashing.matches())
		})
	}

	test('of several digests, all with a known algorithm must match', () => {
		assert.ok(new ContentDigest(`${SHA_256}, ${SHA_512}, md5=:AA==:, other=a`).matches(BODY))
		assert.not(new ContentDigest(`${SHA_512}, ${WRONG}`).matches(BODY))
		assert.not(new ContentDigest(`${WRONG}, ${SHA_512}`).matches(BODY))
		const hashing = new ContentDigest(`${SHA_512}, ${WRONG}`).hashing()
		hashing.update(BODY)
		assert.not(hashing.matches())
	})

	test('the last digest of a repeated algorithm counts', () => {
		assert.ok(new ContentDigest(`${WRONG}, ${SHA_256}`).matches(BODY))
		assert.not(new ContentDigest(`${SHA_256}, ${WRONG}`).matches(BODY))
	})

	for (const [header, message] of [
		['', 'Content-Digest has neither sha-256 nor sha-512'],
		['sha-1=:AA==:', 'Content-Digest has neither sha-256 nor sha-512'],
		['sha-256', 'Content-Digest has a malformed sha-256'],
		['sha-256="X48E"', 'Content-Digest has a malformed sha-256'],
		['sha-256=(:AA==:)', 'Content-Digest has a malformed sha-256'],
		['sha-256=:AA==:', 'Content-Digest has a malformed sha-256'],
		[`${SHA_256}, sha-512=::`, 'Content-Digest has a malformed sha-512'],
		['SHA-256=:AA==:', 'a name in lower case was expected at character 1'],
		[
			'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE:',
			'base64 between colons was expected at character 9',
		],
	] as const) {
		test(`${JSON.stringify(header)}: ${message}`, () =>
			assert.is(
				messageOf(() => new ContentDigest(header)),
				message,
			))
	}
})
