/** Which failures pass, and when to ask again: a random part of a wait that doubles, behind `Retry-After`. */
import { unlessAborted } from './abort.ts'
import type { Call } from './answer.ts'
import { ApiError } from './api-error.ts'

/** Time and chance, so that tests need not wait for either. */
export interface Timing {
	/** Milliseconds since 1970. */
	now(): number
	/** From 0 to below 1. */
	random(): number
	/** Rejects with the signal's reason, as soon as there is one. */
	sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void>
}

export const PLATFORM: Timing = { now: () => Date.now(), random: () => Math.random(), sleep }

const PASSING: readonly number[] = [408, 429, 502, 503, 504]
const FIRST_WAIT = 250
const LONGEST_WAIT = 10_000
/** Whoever is sent away for longer is told so, rather than left waiting. */
const LONGEST_RETRY_AFTER_SECONDS = 30

/** Milliseconds to wait before the next attempt, `undefined` where there shall be none. */
export function waitAfter(attempt: number, call: Call, error: unknown, timing: Timing): number | undefined {
	if (!(error instanceof ApiError) || !mayPass(call, error)) return undefined
	const { retryAfterSeconds = 0 } = error
	if (retryAfterSeconds > LONGEST_RETRY_AFTER_SECONDS) return undefined
	// All of it is random, so that those who failed together don't come back together.
	return retryAfterSeconds * 1_000 + timing.random() * Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** attempt)
}

/** Whether another attempt does no harm, and may help. What was done, or not, is not known from `outcome_unknown`. */
function mayPass(call: Call, { status, code, retryAfterSeconds }: ApiError): boolean {
	// Servers keep the keys of these alone.
	const isKeyed = call.idempotencyKey !== undefined && /^(?:POST|PATCH)$/.test(call.method)
	if (code === 'outcome_unknown' || !(isKeyed || /^(?:GET|QUERY)$/.test(call.method))) return false
	// The first request with this key is still being answered: soon there will be its answer.
	const isRunning = isKeyed && status === 409 && retryAfterSeconds !== undefined
	return code === 'network_error' || PASSING.includes(status) || isRunning
}

async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
	let timer: ReturnType<typeof setTimeout> | undefined
	const time = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, milliseconds)
	})
	try {
		await unlessAborted(time, signal)
	} finally {
		clearTimeout(timer)
	}
}
