/**
 * Turns a JSON reply into a page with the reply, the operations of its path and the map of what is mounted below.
 * Imported by `explorer.ts` if a server has the option; it calls all other files of this room.
 */
import { randomBytes } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { StringDecoder } from 'node:string_decoder'
import type { Milliseconds } from '../base/time.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { headerOf, headers, isBodiless, pairsOf, type Reply, vary } from '../reply/headers.ts'
import type { MountTree } from '../routing/routing.ts'
import { authenticatorFor, Caller } from './caller.ts'
import { documentOf } from './document.ts'
import { isOfDeleted, mapOf, operationsAt, recordPathAt, rootsOf, totalsPathAt } from './operations.ts'
import type { AnswerData, PageData } from './page-data.ts'
import { crumbsOf, isAbove, type Place, placeOf } from './place.ts'
import { relationsAt } from './relations.ts'

/** Makes the page; consumes the reply's body. */
export async function pageOf(exchange: Exchange, mounts: MountTree, reply: Reply): Promise<Reply> {
	const place = placeOf(exchange, mounts)
	const body = await bodyText(exchange, reply)
	// A path with only handlers below it, which is a 404 outside the explorer, shows the map.
	const isMapOnly = reply.status === 404 && exchange.action === undefined && isMapped(place, mounts)
	const status = isMapOnly ? 200 : reply.status
	const lines = isMapOnly ? mapHeaders(exchange) : reply.headers
	const nonce = randomBytes(18).toString('base64')
	if (isBodiless(exchange)) return { status, headers: pageHeaders(lines, nonce, undefined), body: null }
	const answer: AnswerData = {
		status,
		reason: STATUS_CODES[status] ?? '',
		headers: shownHeaders(reply.headers),
		...body,
	}
	const data = await dataOf(exchange, mounts, place, isMapOnly ? undefined : answer)
	const page = documentOf(data, nonce)
	return { status, headers: pageHeaders(lines, nonce, Buffer.byteLength(page)), body: page }
}

/** The headers of every reply, without those that `onError` has set for the 404. */
function mapHeaders(exchange: Exchange): readonly string[] {
	exchange.headerLines = undefined
	return headers(exchange, [])
}

function isMapped({ isPath, segments }: Place, mounts: MountTree): boolean {
	return isPath && (segments.length === 0 || mounts.all.some((mount) => isAbove(segments, mount)))
}

async function dataOf(
	exchange: Exchange,
	mounts: MountTree,
	place: Place,
	answer: AnswerData | undefined,
): Promise<PageData> {
	const { segments } = place
	const hasBelow = mounts.all.some(({ path }) => path.length > segments.length && isAbove(segments, { path }))
	const hasMap = answer === undefined || (place.isPath && (segments.length === 0 || hasBelow))
	const caller = new Caller(exchange, authenticatorFor(exchange, mounts, place, hasMap))
	const operations = await operationsAt(exchange, place, caller, answer?.status ?? 200)
	// The related records of a deleted record have no URL.
	const isFound = answer !== undefined && answer.status < 400 && !isOfDeleted(place.url)
	const { relations, recordPath } = await relationsAt(exchange, mounts, place, caller, isFound)
	const map = hasMap ? await mapOf(mounts, place, caller) : undefined
	return {
		url: place.url,
		crumbs: crumbsOf(mounts, place),
		answer,
		operations,
		recordPath: recordPath ?? (await recordPathAt(exchange, place, caller)),
		totalsPath: await totalsPathAt(exchange, place, caller),
		relations,
		map,
		roots: await rootsOf(mounts, place, caller),
		user: await caller.name(),
	}
}

/** The reply's headers as the page lists them, without cookie values, which HttpOnly hides from scripts. */
function shownHeaders(headers: readonly string[]): [string, string][] {
	return pairsOf(headers).map(([name, value]) => [
		name,
		name.toLowerCase() === 'set-cookie' ? value.replace(/=[^;]*/, '=…') : value,
	])
}

/** Maximum length of a body; longer ones are truncated. */
const MAX_CHARACTERS = 1_048_576
/** How long a stream, such as an endless feed, is read. */
const MAX_STREAM_MS: Milliseconds = 2_000

const TOO_LONG = 'Too long to show in full: this is the beginning.'
const TOO_SLOW = 'Still streaming: this is what arrived within two seconds.'
const BROKEN = 'The answer was cut off here.'

type BodyText = Pick<AnswerData, 'body' | 'note'>

async function bodyText(exchange: Exchange, { body }: Reply): Promise<BodyText> {
	if (body === null) return { body: '', note: undefined }
	if (typeof body === 'string') return truncated(body)
	if (body instanceof Uint8Array) return truncated(Buffer.from(body).toString('utf8'))
	return streamedText(exchange, body)
}

function truncated(text: string, note?: string): BodyText {
	if (text.length <= MAX_CHARACTERS) return { body: text, note }
	return { body: text.slice(0, MAX_CHARACTERS), note: TOO_LONG }
}

/** Reads chunks until the limit of characters or time, then closes their source. */
async function streamedText(exchange: Exchange, body: AsyncIterable<string | Uint8Array>): Promise<BodyText> {
	const chunks = body[Symbol.asyncIterator]()
	const decoder = new StringDecoder('utf8')
	let timer: NodeJS.Timeout | undefined
	const late = new Promise<'late'>((resolve) => {
		timer = setTimeout(() => resolve('late'), MAX_STREAM_MS)
	})
	let text = ''
	let note: string | undefined
	try {
		while (note === undefined) {
			const next = await Promise.race([chunks.next(), late])
			if (next === 'late' || exchange.isReplied) note = TOO_SLOW
			else if (next.done === true) return { body: text, note: undefined }
			else text += typeof next.value === 'string' ? next.value : decoder.write(Buffer.from(next.value))
			if (text.length > MAX_CHARACTERS) note = TOO_LONG
		}
	} catch (error) {
		exchange.log('error', 'the answer was cut off', error)
		return { body: text, note: BROKEN }
	} finally {
		clearTimeout(timer)
	}
	// Aborts `request.signal`, so that the method stops producing; its later errors are ignored.
	exchange.abort()
	chunks.return?.()?.catch(() => {})
	return truncated(text, note)
}

/**
 * Headers that describe only the JSON and are dropped from the page. With the JSON's ETag, a cache would take the page
 * for the JSON. The JSON's Cache-Control doesn't fit a page, which depends on the caller.
 */
const JSON_ONLY: ReadonlySet<string> = new Set([
	...['content-type', 'content-length', 'content-language', 'content-location', 'content-disposition'],
	...['content-digest', 'repr-digest'],
	...['etag', 'last-modified', 'cache-control', 'expires', 'age', 'accept-ranges'],
	...['content-security-policy', 'x-content-type-options', 'referrer-policy', 'x-frame-options'],
	...['cross-origin-opener-policy', 'cross-origin-resource-policy'],
])

/**
 * The headers of a page, with the reply's cookies, challenges and limits. The Content-Security-Policy allows only the
 * page's own script and style, so that nothing in the shown data runs; `trusted-types` keeps scripts from turning text
 * into markup.
 */
function pageHeaders(headers: readonly string[], nonce: string, length: number | undefined): string[] {
	const lines = [
		...['Content-Type', 'text/html; charset=utf-8'],
		...(length === undefined ? [] : ['Content-Length', String(length)]),
		...['Content-Security-Policy', policyFor(nonce), 'Cache-Control', cacheControlFor(headers)],
		...['X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer'],
		...['Cross-Origin-Opener-Policy', 'same-origin', 'Cross-Origin-Resource-Policy', 'same-origin'],
	]
	for (const [name, value] of pairsOf(headers))
		if (!JSON_ONLY.has(name.toLowerCase())) lines.push(name, value)
	vary(lines, 'Accept')
	return lines
}

/**
 * Keeps the reply's `no-transform`, which forbids compression: compressed next to text from the client, a secret could
 * be guessed from the size (BREACH), and the page contains the reply.
 */
function cacheControlFor(headers: readonly string[]): string {
	const directives = (headerOf(headers, 'cache-control') ?? '')
		.split(',')
		.map((one) => one.trim().toLowerCase())
	return directives.includes('no-transform') ? 'no-store, no-transform' : 'no-store'
}

function policyFor(nonce: string): string {
	return [
		"default-src 'none'",
		`script-src 'nonce-${nonce}'`,
		`style-src 'nonce-${nonce}'`,
		// The empty icon, without which a browser requests /favicon.ico.
		'img-src data:',
		"connect-src 'self'",
		"form-action 'none'",
		"frame-ancestors 'none'",
		"base-uri 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types 'none'",
	].join('; ')
}
