/** `useNonce` with one request and one or more caches, tested directly, as few programs use all these combinations. */
import * as assert from 'uvu/assert'
import { useNonce } from '../../../lib/auth/hmac/nonces.ts'
import type { SentSignature } from '../../../lib/auth/hmac/verify.ts'
import { type Cache, MemoryCache } from '../../../lib/index.ts'
import type { Request } from '../../../lib/request/request.ts'
import { describe } from '../../helpers/describe.ts'
import { NOW } from './signed-request.ts'

/** Only the identity of the request is used. */
const request = (): Request => ({}) as unknown as Request

function sent(nonce: string, keyid = 'k1'): SentSignature {
	const covered = { items: [], parameters: new Map() }
	return {
		covered,
		names: [],
		bytes: new Uint8Array(),
		keyid,
		nonce,
		created: NOW,
		expires: undefined,
	}
}

const use = async (of: Request, cache: Cache, what: SentSignature): Promise<boolean> =>
	useNonce(of, cache, what, NOW, 300)

describe('nonces of one request', (test) => {
	test('the same nonce is new however often it is checked', async () => {
		const [one, cache] = [request(), new MemoryCache({ max: 9 })]
		assert.equal([await use(one, cache, sent('a')), await use(one, cache, sent('a'))], [true, true])
		assert.is(await use(request(), cache, sent('a')), false)
	})

	test('a nonce used before stays used however often it is checked', async () => {
		const [one, cache] = [request(), new MemoryCache({ max: 9 })]
		await use(request(), cache, sent('a'))
		assert.equal([await use(one, cache, sent('a')), await use(one, cache, sent('a'))], [false, false])
	})

	for (const [what, second] of [
		['a second nonce', sent('b')],
		['the same nonce of a second key', sent('a', 'k2')],
	] as const) {
		test(`${what} is stored too`, async () => {
			const [one, cache] = [request(), new MemoryCache({ max: 9 })]
			assert.equal([await use(one, cache, sent('a')), await use(one, cache, second)], [true, true])
			assert.equal(
				[await use(request(), cache, sent('a')), await use(request(), cache, second)],
				[false, false],
			)
		})

		test(`${what} that was used before is refused next to a new one`, async () => {
			const [one, cache] = [request(), new MemoryCache({ max: 9 })]
			await use(request(), cache, second)
			assert.equal([await use(one, cache, sent('a')), await use(one, cache, second)], [true, false])
		})
	}

	test('another cache is checked too, and stores it', async () => {
		const [one, cache, other] = [request(), new MemoryCache({ max: 9 }), new MemoryCache({ max: 9 })]
		assert.equal([await use(one, cache, sent('a')), await use(one, other, sent('a'))], [true, true])
		assert.equal(
			[await use(request(), cache, sent('a')), await use(request(), other, sent('a'))],
			[false, false],
		)
	})

	test('it is refused by another cache where it was used before', async () => {
		const [one, cache, other] = [request(), new MemoryCache({ max: 9 }), new MemoryCache({ max: 9 })]
		await use(request(), other, sent('a'))
		assert.equal([await use(one, cache, sent('a')), await use(one, other, sent('a'))], [true, false])
	})
})
