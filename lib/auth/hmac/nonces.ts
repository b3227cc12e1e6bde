/** Nonces that have been used: each is good for one request. */
import { hash } from 'node:crypto'
import type { RestError } from '../../base/error.ts'
import type { Seconds } from '../../base/time.ts'
import { type Cache, CacheFull } from '../../cache/cache.ts'
import { cacheRefusal, isCallersOwn } from '../../cache/refusal.ts'
import { sharedKey } from '../../cache/shares.ts'
import type { Request } from '../../request/request.ts'
import { AHEAD } from './requirements.ts'
import type { SentSignature } from './signatures.ts'

const TOO_MANY =
	'Too many requests were signed with this key: wait until the signatures of earlier ones are no longer valid'

/**
 * Remembers a nonce for as long as its signature could be sent again, in the cache under
 * `nonce:<keyid>:<SHA-256 of keyid and nonce>`. Answers false when it was used by another request.
 *
 * @throws RestError `unavailable` when it can't be remembered: to let it pass would let a replay pass;
 *   `too_many_requests` where this key holds its whole share of the cache
 */
export function useNonce(
	request: Request,
	cache: Cache,
	{ keyid, nonce, created }: SentSignature,
	now: number,
	windowSeconds: Seconds,
): boolean | Promise<boolean> {
	// The length keeps ("a", "bc") and ("ab", "c") apart.
	const key = sharedKey('nonce', keyid, hash('sha256', `${keyid.length}:${keyid}${nonce}`, 'base64url'))
	request.usedNonces ??= []
	const before = request.usedNonces.find((one) => one.cache === cache && one.key === key)
	if (before !== undefined) return before.isNew
	const isNew = add(cache, key, created + windowSeconds + AHEAD - now, windowSeconds)
	request.usedNonces.push({ cache, key, isNew })
	return isNew
}

/** At once, where the cache answers so. */
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
	if (!(cause instanceof CacheFull) || isCallersOwn(cause)) return cause
	const need = `signed requests per second × ${windowSeconds + AHEAD} entries`
	return new Error(`a nonce could not be remembered, as ${cause.message} (${need} are needed)`, { cause })
}
