/**
 * Replies stored for an `Idempotency-Key`: the record of a request, its key in the cache, how it is stored, read and
 * replayed, and the limit on new keys per caller. For `idempotency.ts`.
 */
import { hash } from 'node:crypto'
import { RestError } from '../base/error.ts'
import type { Bytes, Milliseconds, Seconds } from '../base/time.ts'
import { type Cache, CacheFull, type JsonValue } from '../cache/cache.ts'
import { sharedKey } from '../cache/shares.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Counter } from '../limits/counters.ts'
import type { Caller } from '../limits/rate-limit.ts'
import {
	checkStatus,
	headerLine,
	headers,
	isStreamed,
	mountLines,
	pairsOf,
	type Reply,
} from '../reply/headers.ts'

const MAX_STORED_BODY: Bytes = 1_048_576
/** How long records are stored. */
export const DAY: Seconds = 86_400

/** A request with its stored answer. */
export interface Answered {
	readonly state: 'answered'
	readonly fingerprint: string
	readonly status: number
	/** Alternating names and values. */
	readonly headers: readonly string[]
	readonly body: string | null
	/** Whether `body` is bytes in base64, rather than text. */
	readonly isBase64: boolean
}

/** A request without its answer. */
interface Unanswered {
	/**
	 * `running`, the lock: the request is being answered. `unkept`: it must not run again, and its answer isn't stored,
	 * because it is a stream or too large, or the outcome is unknown. `apart`: its answer has its own cache entry, which
	 * may be evicted: see `isLong`.
	 */
	readonly state: 'running' | 'unkept' | 'apart'
	readonly fingerprint: string
}

export type StoredRecord = Answered | Unanswered

/**
 * Longer answers get their own cache entry, which may be evicted. Records never are, so a caller could fill the cache
 * with long ones.
 */
const MAX_INLINE_CHARACTERS = 1_024

function isLong({ body, headers }: Answered): boolean {
	const size = headers.reduce((sum, text) => sum + text.length, body?.length ?? 0)
	return size > MAX_INLINE_CHARACTERS
}

/** Stores a record for a day; without its answer if the cache has no room for that. */
export async function storeRecord(exchange: Exchange, cacheKey: string, record: StoredRecord): Promise<void> {
	const { cache } = exchange.app
	const { fingerprint } = record
	try {
		if (record.state !== 'answered' || !isLong(record)) {
			await cache.set(cacheKey, { ...record }, DAY)
			return
		}
		await cache.set(answerKeyOf(cacheKey), { ...record }, DAY)
		await cache.set(cacheKey, { state: 'apart', fingerprint }, DAY)
	} catch (error) {
		if (!(error instanceof CacheFull) || record.state === 'unkept') throw error
		exchange.log('warn', 'there was no room for the answer to an Idempotency-Key', error)
		await cache.set(cacheKey, { state: 'unkept', fingerprint }, DAY)
	}
}

/** The record to store for a reply; without the reply if its body is a stream or too large. */
export function recordOf(
	exchange: Exchange,
	{ status, headers, body, ascii }: Reply,
	fingerprint: string,
): StoredRecord {
	if (isStreamed(body) || Buffer.byteLength(body ?? '') > MAX_STORED_BODY)
		return { state: 'unkept', fingerprint }
	const isBytes = body instanceof Uint8Array
	const isBase64 = isBytes && ascii === undefined // else it is a long text
	return {
		...{ state: 'answered', fingerprint, status },
		headers: storableLines(exchange, headers),
		body: isBytes ? Buffer.from(body).toString(isBase64 ? 'base64' : 'utf8') : body,
		isBase64,
	}
}

/** The headers to store: all except those that each answer, even a replay, sets for itself. */
function storableLines(exchange: Exchange, lines: readonly string[]): string[] {
	const { rateLimitLines = [], app } = exchange
	// Compared by name and value, so that a list's own `Link` is stored.
	const own = new Set(pairsOf(mountLines(exchange)).map(String))
	const perAnswer = new Set(pairsOf(rateLimitLines).map(([name]) => name.toLowerCase()))
	perAnswer.add('content-length')
	if (app.requestId !== undefined) perAnswer.add(app.requestId.toLowerCase())
	return pairsOf(lines)
		.filter((line) => !perAnswer.has(line[0].toLowerCase()) && !own.has(String(line)))
		.flat()
}

/** Reads an answer from its own cache entry. If the entry has been evicted, returns a record without the answer. */
export async function loadAnswer(
	exchange: Exchange,
	cacheKey: string,
	fingerprint: string,
): Promise<StoredRecord> {
	try {
		const value = await exchange.app.cache.get(answerKeyOf(cacheKey))
		if (value !== undefined) return parseRecord(value)
	} catch (cause) {
		throw new RestError('unavailable', undefined, { cause })
	}
	return { state: 'unkept', fingerprint }
}

/** The key of a long answer's own entry. */
function answerKeyOf(cacheKey: string): string {
	return `${cacheKey}:answer`
}

/**
 * The reply with the stored answer.
 *
 * @throws RestError `unavailable` for an invalid status or header: another program may have written the record
 */
export function replay(
	exchange: Exchange,
	{ status, headers: lines, body: text, isBase64 }: Answered,
): Reply {
	try {
		checkStatus(status)
		for (const [name, value] of pairsOf(lines)) headerLine(name, value)
	} catch (cause) {
		throw new RestError('unavailable', undefined, { cause })
	}
	// Drops headers that `before` set for this request: the stored answer has its own headers.
	exchange.headerLines = undefined
	const body = isBase64 && text !== null ? Buffer.from(text, 'base64') : text
	const length = body === null ? [] : ['Content-Length', String(Buffer.byteLength(body))]
	return { status, headers: headers(exchange, [...lines, ...length, 'Idempotent-Replayed', 'true']), body }
}

/** Checks a value from the cache. @throws TypeError if it isn't a record */
export function parseRecord(value: JsonValue): StoredRecord {
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
	throw new TypeError("the cache entry of an Idempotency-Key isn't a stored request")
}

/** Waits for `work`, but rejects after `time`: the answer must not wait for a cache that hangs. */
export async function withTimeout(time: Milliseconds, work: unknown): Promise<void> {
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

/**
 * The cache key: a hash, so that it contains nothing the client sent. For the same Idempotency-Key it differs by user,
 * method and path.
 *
 * @param share the share of the cache that the entry counts against
 */
export function cacheKeyOf(exchange: Exchange, share: string, key: string): string {
	const [path = ''] = exchange.target().split('?', 1)
	const scope = JSON.stringify([exchange.user?.id ?? null, exchange.method, path, key])
	return sharedKey('idempotency', share, hash('sha256', scope, 'base64url'))
}

/** A hash of the request, which distinguishes a retry from another request with the same key. */
export function fingerprintOf(exchange: Exchange): string {
	const contentType = exchange.headers['content-type'] ?? null
	const head = `${JSON.stringify([exchange.method, exchange.target(), contentType])}\n`
	return hash('sha256', Buffer.concat([Buffer.from(head), bytesOf(exchange)]), 'base64url')
}

/** The body's bytes; if a parser in front has read them, its result as JSON. */
function bytesOf({ body: { bytes }, incoming: { body } }: Exchange): Uint8Array {
	return bytes ?? (Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body) ?? ''))
}

/**
 * Maximum number of new keys per user per day. Records are never evicted, so one user could fill the cache that all
 * share.
 */
const MAX_OF_USER = 10_000
/**
 * The same for an anonymous caller: an IPv4 address or an IPv6 /64 network. /56 and /48 networks have higher limits.
 */
const MAX_OF_ADDRESS = 1_000
const MAX_OF_56 = 4_000
const MAX_OF_48 = 8_000

/**
 * Counts a new key of a caller. The counters of wider IPv6 networks are read first, so that a key that one of them
 * refuses isn't counted anywhere.
 *
 * @throws RestError `too_many_requests` past the limit; and what the cache throws
 */
export async function countKey(cache: Cache, caller: Caller): Promise<void> {
	const [own, ...wider] = countersOf(caller)
	const looked = await Promise.all(wider.map(({ key }) => cache.get(key)))
	for (const [at, counter] of wider.entries()) if (Number(looked[at] ?? 0) >= counter.limit) refuse(counter)
	for (const counter of [own, ...wider])
		if ((await cache.increment(counter.key, counter.windowSeconds)) > counter.limit) refuse(counter)
}

function countersOf({ id, isUser, share, wider }: Caller): readonly [Counter, ...Counter[]] {
	const counter = (counted: string, limit: number): Counter => ({
		key: sharedKey('idempotency', share, `keys:${counted}`),
		limit,
		windowSeconds: DAY,
	})
	const own = counter(id, isUser ? MAX_OF_USER : MAX_OF_ADDRESS)
	if (wider === undefined) return [own]
	const [of56, of48] = wider
	return [own, counter(`address:${of56}`, MAX_OF_56), counter(`address:${of48}`, MAX_OF_48)]
}

function refuse({ limit }: Counter): never {
	throw new RestError('too_many_requests', `More than ${limit} Idempotency-Keys were used in a day`, {
		headers: { 'Retry-After': '3600' },
	})
}
