/** What a request is answered that needs an entry in a cache that has no room for it, or that fails. */
import { RestError } from '../base/error.ts'
import { CacheFull } from './cache.ts'

/**
 * 429 for a caller who holds as much as one may, with `message` for them; 503 for everything else.
 *
 * @param cause what the cache has thrown, or an error about it
 */
export function cacheRefusal(cause: unknown, message: string): RestError {
	if (!isCallersOwn(cause)) return new RestError('unavailable', undefined, { cause })
	return new RestError('too_many_requests', message, { cause, headers: { 'Retry-After': '10' } })
}

/** Whether a cache is full for one caller alone. */
export function isCallersOwn(error: unknown): boolean {
	return error instanceof CacheFull && error.scope === 'caller'
}
