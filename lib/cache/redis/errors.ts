/** What an error of Redis, of its client, or of the way between them means to a `Cache`. */
import { CacheFull, CacheUnavailable } from '../cache.ts'

/** An error as Redis words it, out of memory; before Redis 7, one that a script has met is told within another. */
const FULL = /^(?:ERR Error running script .*: -)?OOM /

/** A command that the server doesn't know, or doesn't let this user give. */
const FORBIDDEN = /^(?:ERR|NOPERM) /

/**
 * A server that takes no writes: a replica, be it that it was the primary before; one that can't save to disk, or has too
 * few replicas. Before Redis 7 a script tells it within another error.
 */
const UNWRITABLE = /^(?:ERR Error running script .*: -)?(?:READONLY|MISCONF|NOREPLICAS|MASTERDOWN) /
/** That it is a replica. */
const READ_ONLY = /^(?:ERR Error running script .*: -)?(?:READONLY|MASTERDOWN) /

/** `CacheFull` for a Redis that is full, `CacheUnavailable` for everything else. */
export function failure(error: unknown): CacheFull | CacheUnavailable {
	if (FULL.test(messageOf(error))) return new CacheFull(undefined, 'maxmemory', { cause: error })
	if (UNWRITABLE.test(messageOf(error)))
		return new CacheUnavailable('this Redis takes no writes: it is a replica, or can not save', {
			cause: error,
		})
	return new CacheUnavailable('Redis refused a command, or was lost while it was under way', { cause: error })
}

/** Whether a command failed because it may not be given, of which the next may know better. */
export function isForbidden(error: unknown): boolean {
	return error instanceof CacheUnavailable && FORBIDDEN.test(messageOf(error.cause))
}

/** Whether a script isn't known, and was not run. */
export function isUnknownScript(error: unknown): boolean {
	return error instanceof CacheUnavailable && messageOf(error.cause).startsWith('NOSCRIPT ')
}

/** Whether a server has said that it is a replica: writes are another's now. */
export function isReadOnly(error: unknown): boolean {
	return READ_ONLY.test(messageOf(error))
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : ''
}
