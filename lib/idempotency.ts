/**
 * Runs a request with an `Idempotency-Key` once: whoever repeats it is given the answer of the first time
 * (draft-ietf-httpapi-idempotency-key-header-07). Credentials and access have been checked before, for each.
 */
import type { Action } from './action.ts'
import { RestError } from './error.ts'
import type { Exchange } from './exchange.ts'
import { cacheKeyOf, fingerprintOf, keyOf } from './idempotency/key.ts'
import { type Answered, fromValue, type Kept, type Running, toValue } from './idempotency/record.ts'
import type { MountFacts } from './mount/facts.ts'
import type { Reply } from './reply-text.ts'
import { headers } from './reply-text.ts'
import type { Bytes, Milliseconds, Seconds } from './time.ts'

const HEADER = 'idempotency-key'
/** How long an answer is kept. */
const KEPT: Seconds = 86_400
/** Of a method that may take any time. */
const LONGEST_RUN: Milliseconds = KEPT * 1_000
/** What `Deadlines` may be late by, and more: a mark must not end before its run is told so. */
const MARGIN: Milliseconds = 1_000
/** A larger answer isn't kept. */
const MOST_KEPT: Bytes = 1_048_576

/** Whether a request is one to be run once. PUT and DELETE are idempotent by themselves (RFC 9110 §9.2.2). */
export function isKeyed({ headers, method }: Exchange, { idempotencyKeys }: MountFacts): boolean {
	if (headers[HEADER] === undefined || idempotencyKeys === 'off') return false
	return method === 'POST' || method === 'PATCH'
}

/**
 * Runs the method, or answers what it has answered before.
 *
 * @throws RestError by the promise: `bad_request` for a malformed key, where nobody is known and the handler
 *   hasn't opted in, and for a method that streams its body; `conflict` while the first is still running, or
 *   where its answer could not be kept; `invalid` for another request under the same key; `unavailable` where
 *   the cache fails, as then the method could run twice
 */
export async function answerOnce(
	exchange: Exchange,
	{ idempotencyKeys }: MountFacts,
	{ name, streaming }: Action,
	run: () => Promise<Reply>,
): Promise<Reply> {
	const key = keyOf(exchange.headers[HEADER] ?? '')
	const { user, method } = exchange
	if (user === null && idempotencyKeys !== 'anyone')
		throw new RestError(
			'bad_request',
			'An Idempotency-Key is kept for known users only: send credentials, or no key',
		)
	if (streaming !== undefined)
		throw new RestError('bad_request', 'No Idempotency-Key can be kept for a body that is streamed')
	const target = exchange.target()
	const [path = ''] = target.split('?', 1)
	const cacheKey = await cacheKeyOf({ user: user?.id ?? null, method, path, key })
	const contentType = exchange.headers['content-type']
	const fingerprint = await fingerprintOf({ method, target, contentType, bytes: exchange.rawBody() })
	const time = Math.min(exchange.app.handlerTimeout, LONGEST_RUN) + MARGIN
	const ends = exchange.app.deadlines.clock() + time
	const before = await begin(exchange, cacheKey, { state: 'running', fingerprint }, time)
	if (before !== undefined) return repeated(exchange, before, fingerprint)
	const reply = await run()
	if (exchange.due === Number.NEGATIVE_INFINITY || exchange.app.deadlines.clock() >= ends - MARGIN) {
		// Something else was answered. Somebody may be running it again by now, and the mark be theirs.
		exchange.log('warn', `${name} took longer than its time: its answer is not kept for its Idempotency-Key`)
		return reply
	}
	await end(exchange, cacheKey, reply, fingerprint)
	return reply
}

/** Marks the key as running; answers what was there, if something was. */
async function begin(
	exchange: Exchange,
	cacheKey: string,
	running: Running,
	time: Milliseconds,
): Promise<Kept | undefined> {
	const { cache } = exchange.app
	try {
		// What was there may have ended in between: once more, then.
		for (let tried = 0; tried < 2; tried++) {
			if (await cache.add(cacheKey, toValue(running), time / 1_000)) return undefined
			const value = await cache.get(cacheKey)
			if (value !== undefined) return fromValue(value)
		}
	} catch (error) {
		throw new RestError('unavailable', undefined, { cause: error })
	}
	return running
}

/** Keeps the answer. A failure of the server is forgotten, as the same request may succeed when it comes again. */
async function end(exchange: Exchange, cacheKey: string, reply: Reply, fingerprint: string): Promise<void> {
	const { cache } = exchange.app
	try {
		if (reply.status >= 500) await cache.delete(cacheKey)
		else await cache.set(cacheKey, toValue(keptOf(exchange, reply, fingerprint)), KEPT)
	} catch (error) {
		// What was done is done, and is told; the mark refuses the same request while it lasts.
		exchange.log('error', 'an answer could not be kept for its Idempotency-Key', error)
	}
}

function keptOf(exchange: Exchange, { status, headers, body }: Reply, fingerprint: string): Kept {
	const isBytes = body instanceof Uint8Array
	if (body !== null && typeof body !== 'string' && !isBytes) return { state: 'unkept', fingerprint }
	if (body !== null && body.length > MOST_KEPT) return { state: 'unkept', fingerprint }
	return {
		...{ state: 'answered', fingerprint, status },
		headers: lasting(exchange, headers),
		body: isBytes ? Buffer.from(body).toString('base64') : body,
		isBase64: isBytes,
	}
}

/** The headers but for those that every answer has anew. */
function lasting({ standing = [], app }: Exchange, lines: readonly string[]): string[] {
	const anew = new Set(standing.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()))
	if (app.requestId !== undefined) anew.add(app.requestId.toLowerCase())
	return lines.filter((_, at) => !anew.has((lines[at - (at % 2)] ?? '').toLowerCase()))
}

function repeated(exchange: Exchange, kept: Kept, fingerprint: string): Reply {
	if (kept.fingerprint !== fingerprint) {
		const message = 'was used for another request: a new request needs a new key'
		const details = [{ field: 'Idempotency-Key', code: 'reused', message }]
		throw new RestError('invalid', `The Idempotency-Key ${message}`, { details })
	}
	if (kept.state === 'answered') return replay(exchange, kept)
	if (kept.state === 'running')
		throw new RestError('conflict', 'The first request with this Idempotency-Key is still being answered', {
			headers: { 'Retry-After': '1' },
		})
	throw new RestError('conflict', 'This request was answered before, with an answer that could not be kept')
}

function replay(exchange: Exchange, { status, headers: lines, body, isBase64 }: Answered): Reply {
	exchange.headerLines = undefined
	return {
		status,
		headers: headers(exchange, [...lines, 'Idempotent-Replayed', 'true']),
		body: isBase64 && body !== null ? Buffer.from(body, 'base64') : body,
	}
}
