/**
 * Runs a request with an `Idempotency-Key` once: whoever repeats it is given the answer of the first time
 * (draft-ietf-httpapi-idempotency-key-header-07). Credentials and access have been checked before, for each.
 */
import { RestError } from '../../base/error.ts'
import type { Bytes, Milliseconds, Seconds } from '../../base/time.ts'
import { bestEffort, CacheFull, cacheRefusal } from '../../cache/cache.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { type Caller, callerOf } from '../../limits/rate-limit.ts'
import { checkStatus, headerLine } from '../../reply/head.ts'
import { headers, ownLines, type Reply } from '../../reply/headers.ts'
import { countKey } from './count-key.ts'
import { cacheKeyOf, fingerprintOf } from './key.ts'
import { type Answered, fromValue, isLong, type Kept, type Running, toValue, within } from './record.ts'

const DAY: Seconds = 86_400
/**
 * The cache has so long to take the mark, and as long to take the answer; and `Deadlines` may be late by half. The
 * mark lasts for all of that, so that it never ends before its run.
 */
const MARGIN: Milliseconds = 1_000
const MOST_KEPT: Bytes = 1_048_576
const TOO_MANY =
	'Too many Idempotency-Keys, or answers to them, are kept for this user or network: wait, or send no key'
/** Refusals of the moment: the same request may be served when it comes again. */
const PASSING: ReadonlySet<number> = new Set([401, 403, 408, 429])

/**
 * Runs the method, or answers what it has answered before.
 *
 * @throws RestError by the promise: `conflict` while the first is still running, or where its answer could not
 *   be kept; `invalid` for another request under the same key; `too_many_requests` past the new keys of a day;
 *   `unavailable` where the cache fails, as then the method could run twice
 */
export async function answerOnce(exchange: Exchange, key: string, run: () => Promise<Reply>): Promise<Reply> {
	exchange.watch?.step('idempotency')
	const { user, method, app } = exchange
	const target = exchange.target()
	const [path = ''] = target.split('?', 1)
	const caller = callerOf(user, exchange.ip())
	// Who isn't known may repeat a request from another address.
	const share = user === null ? 'anyone' : caller.share
	const cacheKey = await cacheKeyOf(share, { user: user?.id ?? null, method, path, key })
	const contentType = exchange.headers['content-type']
	const fingerprint = await fingerprintOf({ method, target, contentType, bytes: bytesOf(exchange) })
	const begun = app.deadlines.clock()
	const before = await begin(exchange, cacheKey, caller, { state: 'running', fingerprint })
	if (before?.state === 'apart')
		return repeated(exchange, await apart(exchange, cacheKey, before), fingerprint)
	if (before !== undefined) return repeated(exchange, before, fingerprint)
	// The time is over, and something else was answered; or so much of it that the mark could end before the run.
	if (isOver(exchange) || app.deadlines.clock() - begun > MARGIN) {
		await forget(exchange, cacheKey)
		throw new RestError('unavailable')
	}
	const reply = await run()
	if (isOver(exchange)) {
		// Somebody may be running it again by now, and the mark be theirs.
		exchange.log('warn', 'an answer came too late to be kept for its Idempotency-Key')
		return reply
	}
	await end(exchange, cacheKey, reply, fingerprint)
	return reply
}

/** Whether its time is over, so that something else is answered. */
function isOver({ due, replied }: Exchange): boolean {
	return replied || due === Number.NEGATIVE_INFINITY
}

/** The body's bytes; what a parser in front has made of them where it has taken them. */
function bytesOf({ body: { bytes }, incoming: { body } }: Exchange): Uint8Array {
	return bytes ?? (Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body) ?? ''))
}

/** Marks the key as running; answers what was there, if something was. */
async function begin(
	exchange: Exchange,
	cacheKey: string,
	caller: Caller,
	running: Running,
): Promise<Kept | undefined> {
	const { cache, handlerTimeout } = exchange.app
	const seconds = Math.min((handlerTimeout + 3 * MARGIN) / 1_000, DAY)
	try {
		// What was there may have ended in between: once more, then.
		for (let tried = 0; tried < 2; tried++) {
			if (await cache.add(cacheKey, toValue(running), seconds)) {
				await counted(exchange, cacheKey, caller)
				return undefined
			}
			const value = await cache.get(cacheKey)
			if (value !== undefined) return fromValue(value)
		}
	} catch (error) {
		if (error instanceof RestError) throw error
		// Whom nobody knows have one share together: nobody among them has filled it.
		throw caller.isUser
			? cacheRefusal(error, TOO_MANY)
			: new RestError('unavailable', undefined, { cause: error })
	}
	return running
}

/** @throws RestError for a key too many, which is then as if it had never been sent: nothing is run under it */
async function counted(exchange: Exchange, cacheKey: string, caller: Caller): Promise<void> {
	try {
		await countKey(exchange.app.cache, caller)
	} catch (error) {
		await forget(exchange, cacheKey)
		throw error instanceof RestError ? error : cacheRefusal(error, TOO_MANY)
	}
}

/** The answer that is kept beside its record; it may have had to make room. */
async function apart(
	exchange: Exchange,
	cacheKey: string,
	{ fingerprint }: { readonly fingerprint: string },
): Promise<Kept> {
	try {
		const value = await exchange.app.cache.get(besideOf(cacheKey))
		if (value !== undefined) return fromValue(value)
	} catch (cause) {
		throw new RestError('unavailable', undefined, { cause })
	}
	return { state: 'unkept', fingerprint }
}

/** Where a long answer is kept. */
function besideOf(cacheKey: string): string {
	return `${cacheKey}:answer`
}

/** A mark that can't be taken back ends by itself. */
function forget({ app }: Exchange, cacheKey: string): Promise<void> {
	return bestEffort(async () => void (await app.cache.delete(cacheKey)))
}

/**
 * Keeps the answer. A failure of the server, a refusal of the moment and what was broken off are forgotten, as the
 * same request may succeed when it comes again; but not what may have been done.
 */
async function end(exchange: Exchange, cacheKey: string, reply: Reply, fingerprint: string): Promise<void> {
	const isForgotten = reply.status >= 500 || PASSING.has(reply.status) || exchange.isAborted
	const unkept: Kept = { state: 'unkept', fingerprint }
	try {
		if (exchange.isOutcomeUnknown || (isForgotten && exchange.isDone))
			await within(MARGIN, keep(exchange, cacheKey, unkept))
		else if (isForgotten) await within(MARGIN, exchange.app.cache.delete(cacheKey))
		else await within(MARGIN, keep(exchange, cacheKey, keptOf(exchange, reply, fingerprint)))
	} catch (error) {
		// What was done is done, and is told; the mark refuses the same request while it lasts.
		exchange.log('error', 'an answer could not be kept for its Idempotency-Key', error)
	}
}

/** Keeps a record for a day. Where there is no room for the answer, it is known at least that there was one. */
async function keep(exchange: Exchange, cacheKey: string, kept: Kept): Promise<void> {
	const { cache } = exchange.app
	const { fingerprint } = kept
	try {
		if (kept.state !== 'answered' || !isLong(kept)) {
			await cache.set(cacheKey, toValue(kept), DAY)
			return
		}
		await cache.set(besideOf(cacheKey), toValue(kept), DAY)
		await cache.set(cacheKey, toValue({ state: 'apart', fingerprint }), DAY)
	} catch (error) {
		if (!(error instanceof CacheFull) || kept.state === 'unkept') throw error
		exchange.log('warn', 'there was no room for the answer to an Idempotency-Key', error)
		await cache.set(cacheKey, toValue({ state: 'unkept', fingerprint }), DAY)
	}
}

function keptOf(exchange: Exchange, { status, headers, body }: Reply, fingerprint: string): Kept {
	const isBytes = body instanceof Uint8Array
	if (body !== null && typeof body !== 'string' && !isBytes) return { state: 'unkept', fingerprint }
	if (body !== null && Buffer.byteLength(body) > MOST_KEPT) return { state: 'unkept', fingerprint }
	return {
		...{ state: 'answered', fingerprint, status },
		headers: lasting(exchange, headers),
		body: isBytes ? Buffer.from(body).toString('base64') : body,
		isBase64: isBytes,
	}
}

/** The headers but for those that every answer has anew. */
function lasting(exchange: Exchange, lines: readonly string[]): string[] {
	const { standing = [], app } = exchange
	// By value: a list's own `Link` is kept.
	const own = new Set(pairsOf(ownLines(exchange)).map(String))
	const anew = new Set(standing.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()))
	anew.add('content-length')
	if (app.requestId !== undefined) anew.add(app.requestId.toLowerCase())
	return pairsOf(lines)
		.filter((line) => !anew.has(line[0].toLowerCase()) && !own.has(String(line)))
		.flat()
}

function pairsOf(lines: readonly string[]): [name: string, value: string][] {
	return lines.flatMap((name, at) => (at % 2 === 0 ? [[name, lines[at + 1] ?? '']] : []))
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
	throw new RestError(
		'conflict',
		'This request came before, and what was answered could not be kept: see what was done, and use a new key',
	)
}

/** @throws RestError `unavailable` for what we can't have kept: the cache is somebody else's, too */
function replay(exchange: Exchange, { status, headers: lines, body: text, isBase64 }: Answered): Reply {
	try {
		checkStatus(status)
		for (let at = 0; at < lines.length; at += 2) headerLine(lines[at] ?? '', lines[at + 1] ?? '')
	} catch (cause) {
		throw new RestError('unavailable', undefined, { cause })
	}
	// What `before` has set is for another answer than the first.
	exchange.headerLines = undefined
	const body = isBase64 && text !== null ? Buffer.from(text, 'base64') : text
	const length = body === null ? [] : ['Content-Length', String(Buffer.byteLength(body))]
	return { status, headers: headers(exchange, [...lines, ...length, 'Idempotent-Replayed', 'true']), body }
}
