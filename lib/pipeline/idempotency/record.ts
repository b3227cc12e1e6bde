/** What is kept of a request with an `Idempotency-Key`, as a value of the cache. */

import type { Milliseconds } from '../../base/time.ts'
import type { JsonValue } from '../../cache/cache.ts'

/** A request that is being answered. */
export interface Running {
	readonly state: 'running'
	readonly fingerprint: string
}

/** A request that was answered, with the answer. */
export interface Answered {
	readonly state: 'answered'
	readonly fingerprint: string
	readonly status: number
	/** Names and values in turn. */
	readonly headers: readonly string[]
	readonly body: string | null
	/** Whether `body` is base64, of bytes. */
	readonly isBase64: boolean
}

/** A request that is not to be run again, without its answer: a stream, too much, or one that nobody knows the outcome of. */
export interface Unkept {
	readonly state: 'unkept'
	readonly fingerprint: string
}

/** A request whose answer is kept beside its record, where it may be evicted: see `isLong`. */
export interface KeptApart {
	readonly state: 'apart'
	readonly fingerprint: string
}

export type Kept = Running | Answered | Unkept | KeptApart

/**
 * Most characters of an answer that is in its record. Records are never evicted, and share their room with nonces
 * and limits of all: whoever could fill it with answers would shut the others out.
 */
const LONGEST_WITHIN = 1_024

/** Whether an answer is too long for its record. */
export function isLong({ body, headers }: Answered): boolean {
	const size = headers.reduce((sum, text) => sum + text.length, body?.length ?? 0)
	return size > LONGEST_WITHIN
}

/** The record as the cache's value. */
export function toValue(kept: Kept): JsonValue {
	return { ...kept }
}

/** @throws TypeError for what no request has kept */
export function fromValue(value: JsonValue): Kept {
	if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
		const { state, fingerprint, status, headers, body, isBase64 } = value as Readonly<
			Record<string, JsonValue>
		>
		if (typeof fingerprint === 'string') {
			if (state === 'running' || state === 'unkept' || state === 'apart') return { state, fingerprint }
			if (
				state === 'answered' &&
				typeof status === 'number' &&
				Array.isArray(headers) &&
				headers.length % 2 === 0 &&
				headers.every((one) => typeof one === 'string') &&
				(typeof body === 'string' || body === null) &&
				typeof isBase64 === 'boolean'
			)
				return { state, fingerprint, status, headers, body, isBase64 }
		}
	}
	throw new TypeError('the cache holds something else under an Idempotency-Key')
}

/** An answer doesn't wait longer for a cache that hangs. */
export async function within(time: Milliseconds, work: unknown): Promise<void> {
	let timer: NodeJS.Timeout | undefined
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error(`the cache took longer than ${time} ms`)), time)
	})
	try {
		await Promise.race([work, late])
	} finally {
		clearTimeout(timer)
	}
}
