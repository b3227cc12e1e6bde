/** Stores the nonces of verified signatures, so that no request is accepted twice. For `hmac-authenticator.ts`. */
import { hash } from 'node:crypto'
import type { RestError } from '../../base/error.ts'
import type { Seconds } from '../../base/time.ts'
import { type Cache, CacheFull, cacheRefusal, isCallerFull } from '../../cache/cache.ts'
import { sharedKey } from '../../cache/shares.ts'
import type { Request } from '../../request/request.ts'
import { MAX_CLOCK_SKEW, type SentSignature } from './verify.ts'

const TOO_MANY = 'Too many requests were signed with this key: wait until earlier signatures have expired'

/**
 * Stores a nonce in the cache for as long as its signature is valid, under `nonce:<keyid>:<SHA-256 of keyid and
 * nonce>`. Returns false if another request has used the nonce.
 *
 * @throws RestError `unavailable` if the nonce can't be stored, because a replay could not be detected;
 *   `too_many_requests` if this key has used up its share of the cache
 */
export function useNonce(
	request: Request,
	cache: Cache,
	{ keyid, nonce, created }: SentSignature,
	now: number,
	windowSeconds: Seconds,
): boolean | Promise<boolean> {
	// The length is hashed too, because ("a", "bc") and ("ab", "c") must differ.
	const key = sharedKey('nonce', keyid, hash('sha256', `${keyid.length}:${keyid}${nonce}`, 'base64url'))
	// The same request may be authenticated more than once: its own nonce isn't a replay.
	request.usedNonces ??= []
	const used = request.usedNonces.find((one) => one.cache === cache && one.key === key)
	if (used !== undefined) return used.isNew
	const isNew = add(cache, key, created + windowSeconds + MAX_CLOCK_SKEW - now, windowSeconds)
	request.usedNonces.push({ cache, key, isNew })
	return isNew
}

/** Synchronous if the cache is. */
function add(
	cache: Cache,
	key: string,
	ttlSeconds: Seconds,
	windowSeconds: Seconds,
): boolean | Promise<boolean> {
	const refusal = (cause: unknown): RestError => cacheRefusal(explained(cause, windowSeconds), TOO_MANY)
	try {
		const added: unknown = cache.add(key, 1, ttlSeconds)
		if (typeof added === 'boolean') return added
		return Promise.resolve(added).then(
			(answer) => answer === true,
			(cause: unknown) => {
				throw refusal(cause)
			},
		)
	} catch (cause) {
		throw refusal(cause)
	}
}

function explained(cause: unknown, windowSeconds: Seconds): unknown {
	if (!(cause instanceof CacheFull) || isCallerFull(cause)) return cause
	const need = `signed requests per second × ${windowSeconds + MAX_CLOCK_SKEW} entries`
	return new Error(`a nonce could not be stored, because ${cause.message} (${need} are needed)`, { cause })
}
