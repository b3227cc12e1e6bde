/** What an error of Redis, of its client, or of the way between them means to a `Cache`. */
import { CacheFull, CacheUnavailable } from '../../cache/cache.ts'

/** An error as Redis words it, out of memory; before Redis 7, one that a script has met is told within another. */
const FULL = /^(?:ERR Error running script .*: -)?OOM /

/** A command that the server doesn't know, or doesn't let this user give. */
const FORBIDDEN = /^(?:ERR|NOPERM) /

/** `CacheFull` for a Redis that is full, `CacheUnavailable` for everything else. */
export function failure(error: unknown): CacheFull | CacheUnavailable {
	if (FULL.test(messageOf(error))) return new CacheFull(undefined, 'maxmemory', { cause: error })
	return new CacheUnavailable('Redis refused a command, or was lost while it was under way', { cause: error })
}

/** Whether a command failed because it may not be given, of which the next may know better. */
export function isForbidden(error: unknown): boolean {
	return error instanceof CacheUnavailable && FORBIDDEN.test(messageOf(error.cause))
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : ''
}
