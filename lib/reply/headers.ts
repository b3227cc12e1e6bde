/**
 * `Reply`, text and empty replies, the envelope around JSON, and the headers of every reply, with those that a method
 * sets, which are checked here. For `reply.ts` and every other file that makes a reply.
 */
import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { Readable } from 'node:stream'
import { shown } from '../base/options.ts'
import type { Exchange, HeaderLine } from '../exchange/exchange.ts'
import { isJsonType } from '../wire/json-type.ts'
import type { ReplyOptions } from './custom-reply.ts'
import { jsonText } from './value-text.ts'

/** Status, headers and body of an answer. */
export interface Reply {
	readonly status: number
	/** Alternating names and values. */
	readonly headers: string[]
	readonly body: string | Uint8Array | StreamedBody | null
	/** Whether the body is a text in ASCII, which can be written as Latin-1, faster. False for a text's bytes, left out for other bodies. */
	readonly ascii?: boolean
}

/** A body that is sent in chunks, as the client reads them. */
export type StreamedBody = Readable | AsyncIterable<string | Uint8Array>

export function isStreamed(body: Reply['body']): body is StreamedBody {
	return body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)
}

export const JSON_TYPE = 'application/json; charset=utf-8'
export const NOSNIFF = 'X-Content-Type-Options'
/** For content that may be somebody else's page: its scripts don't run, and it has no origin. */
const SANDBOX = ['Content-Security-Policy', 'sandbox'] as const
export const BYTES_TYPE = 'application/octet-stream'
export const BYTES_SAFETY: readonly string[] = [NOSNIFF, 'nosniff', ...SANDBOX]

export const ENVELOPE_START = '{"success":true,"data":'

export function envelopeEnd(meta: ReplyOptions['meta']): string {
	return meta === undefined ? '}' : `,"meta":${jsonText(meta, 'meta')}}`
}

/** In characters. Texts of this length or longer are sent as bytes: see `transport/send.ts`. */
export const LONG_TEXT = 65_536

/** A reply with a text; `length` is its length in bytes. */
export function textReply(
	exchange: Exchange,
	status: number,
	type: string,
	text: string | Uint8Array,
	length = Buffer.byteLength(text),
): Reply {
	return {
		status,
		headers: headers(exchange, ['Content-Type', type, 'Content-Length', String(length), NOSNIFF, 'nosniff']),
		body: isBodiless(exchange) ? null : text,
		ascii: typeof text === 'string' && length === text.length,
	}
}

/**
 * Whether the body is left out: a HEAD gets only the headers of its GET (RFC 9110 §9.3.2). Reads the method that was sent,
 * because a request may be refused before it is routed.
 */
export function isBodiless({ incoming }: Exchange): boolean {
	return incoming.method === 'HEAD'
}

/** The status set by the method, else 200. */
export function statusOf({ status }: Exchange): number {
	return status === 0 ? 200 : status
}

/** Whether replies of this status have no body (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
export function hasNoContent(status: number): boolean {
	return status === 204 || status === 205 || status === 304
}

export function emptyReply(exchange: Exchange, lines: readonly string[] = []): Reply {
	return {
		status: statusOf(exchange),
		headers: headers(exchange, [NOSNIFF, 'nosniff', ...lines]),
		body: null,
	}
}

/** All headers of a reply: headers that the method has set replace `defaults` of the same name. */
export function headers(exchange: Exchange, defaults: string[]): string[] {
	const lines = exchange.headerLines
	const { app, mount } = exchange
	const { requestId } = app
	if (requestId !== undefined) defaults.push(requestId, exchange.id())
	if (exchange.rateLimitLines !== undefined) defaults.push(...exchange.rateLimitLines)
	const all = lines === undefined ? defaults : merge(defaults, lines)
	if (mount?.deprecation !== undefined) addLines(all, mount.deprecation)
	if (app.cors !== undefined) addLines(all, app.cors.forOrigin(exchange.headers.origin).lines)
	return all
}

function merge(defaults: string[], lines: ReadonlyMap<string, HeaderLine>): string[] {
	// Anything but JSON may be a page with somebody else's script: it is sandboxed.
	const type = lines.get('content-type')?.[1]
	if (type !== undefined && !isJson(type) && !defaults.includes(SANDBOX[0])) defaults.push(...SANDBOX)
	const all: string[] = []
	for (let at = 0; at < defaults.length; at += 2) {
		const name = defaults[at] ?? ''
		if (!lines.has(name.toLowerCase())) all.push(name, defaults[at + 1] ?? '')
	}
	for (const [name, value] of lines.values()) {
		if (typeof value === 'string') all.push(name, value)
		else for (const one of value) all.push(name, one)
	}
	return all
}

/** Whether every Content-Type is JSON. Several, or an empty list, are possible: browsers would choose or guess the type. */
function isJson(type: string | readonly string[]): boolean {
	if (typeof type === 'string') return isJsonType(type)
	return type.length > 0 && type.every(isJsonType)
}

/** The deprecation and CORS headers that every reply of the mount has: alternating names and values. */
export function mountLines({ app, mount, headers }: Exchange): string[] {
	return [...(mount?.deprecation ?? []), ...(app.cors?.forOrigin(headers.origin).lines ?? [])]
}

/**
 * Adds deprecation or CORS lines to those of a reply. A header set by the method wins, because one method may have its
 * own sunset date, or be open to all origins. But `Link` and `Access-Control-Expose-Headers` are added to the method's
 * own, and `Vary` is merged.
 */
function addLines(lines: string[], own: readonly string[]): void {
	for (let at = 0; at < own.length; at += 2) {
		const name = own[at] ?? ''
		const value = own[at + 1] ?? ''
		const isList = name === 'Link' || name === 'Access-Control-Expose-Headers'
		if (name === 'Vary') vary(lines, value)
		else if (isList || indexOfLine(lines, name) === -1) lines.push(name, value)
	}
}

/** Adds a header's name to `Vary`, unless `Vary` already has it or `*` (RFC 9110 §12.5.5). */
export function vary(lines: string[], header: string): void {
	const first = indexOfLine(lines, 'Vary')
	if (first === -1) {
		lines.push('Vary', header)
		return
	}
	const names = (headerOf(lines, 'Vary') ?? '').split(',').map((name) => name.trim().toLowerCase())
	if (names.includes('*') || names.includes(header.toLowerCase())) return
	const before = lines[first + 1] ?? ''
	lines[first + 1] = before.trim() === '' ? header : `${before}, ${header}`
}

/** Index of the first line with a name, from `from` on; -1 if there is none. */
export function indexOfLine(lines: readonly string[], name: string, from = 0): number {
	for (let at = from; at < lines.length; at += 2) {
		const other = lines[at] ?? ''
		if (other.length === name.length && other.toLowerCase() === name.toLowerCase()) return at
	}
	return -1
}

/** A header's value, all of its lines joined by `, `. */
export function headerOf(lines: readonly string[], name: string): string | undefined {
	let value: string | undefined
	for (let at = indexOfLine(lines, name); at !== -1; at = indexOfLine(lines, name, at + 2))
		value = value === undefined ? lines[at + 1] : `${value}, ${lines[at + 1]}`
	return value
}

export function pairsOf(lines: readonly string[]): [name: string, value: string][] {
	return lines.flatMap((name, at) => (at % 2 === 0 ? [[name, lines[at + 1] ?? '']] : []))
}

/** The lines by lower-case name, a repeated header's values in a list; the object has no prototype. */
export function linesByName(lines: readonly string[]): Record<string, string | string[]> {
	const byName: Record<string, string | string[]> = Object.create(null)
	for (let at = 0; at < lines.length; at += 2) {
		const name = (lines[at] ?? '').toLowerCase()
		const value = lines[at + 1] ?? ''
		const before = byName[name]
		byName[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
	}
	return byName
}

/** Headers that frame a message: a wrong one would make the next reply part of this one. */
export const FRAMING: ReadonlySet<string> = new Set([
	'connection',
	'content-length',
	'keep-alive',
	'trailer',
	'transfer-encoding',
	'upgrade',
])

/** Sets the status of a successful reply. @throws RangeError for anything but a whole number from 200 to 599 */
export function setStatus(exchange: Exchange, code: number): void {
	const status = checkStatus(code)
	if (exchange.isReplied) exchange.log('warn', `this.status(${status}) was called after the answer`)
	else exchange.status = status
}

/** Sets a header of the reply. @throws TypeError for an invalid name or value */
export function setHeader(
	exchange: Exchange,
	name: string,
	value: string | number | readonly string[],
): void {
	if (exchange.isReplied) {
		exchange.log('warn', `this.header() was called after the answer, for ${JSON.stringify(String(name))}`)
		return
	}
	storeHeader(exchange, name, value)
}

function storeHeader(exchange: Exchange, name: string, value: string | number | readonly string[]): void {
	exchange.headerLines ??= new Map()
	exchange.headerLines.set(String(name).toLowerCase(), headerLine(name, value))
}

/**
 * Applies the options of `reply()`, which replace what the method has set.
 *
 * @throws RangeError and TypeError as {@link setStatus} and {@link setHeader}
 */
export function applyOptions(exchange: Exchange, options: ReplyOptions): void {
	if (options.status !== undefined) exchange.status = checkStatus(options.status)
	if (options.headers === undefined) return
	for (const [name, value] of Object.entries(options.headers)) storeHeader(exchange, name, value)
}

/** Checks that a status is final (RFC 9110 §15): after an interim one (1xx), the client would wait for ever. */
export function checkStatus(code: number): number {
	if (Number.isInteger(code) && code >= 200 && code <= 599) return code
	throw new RangeError(`a status must be a whole number from 200 to 599, got ${shown(code)}`)
}

/** Checks a header line: a line break in a value would let it inject another header. */
export function headerLine(name: string, value: string | number | readonly string[]): HeaderLine {
	validateHeaderName(name)
	if (FRAMING.has(name.toLowerCase()))
		throw new TypeError(`the header ${name} is set by the server, from the answer itself`)
	const values = typeof value === 'number' ? String(value) : value
	if (typeof values !== 'string' && !Array.isArray(values)) throw wrongType(name, values, '')
	for (const one of typeof values === 'string' ? [values] : values) {
		if (typeof one !== 'string') throw wrongType(name, one, ' in a list')
		validateHeaderValue(name, one)
	}
	return [name, values]
}

function wrongType(name: string, value: unknown, where: string): TypeError {
	const found = value === null ? 'null' : typeof value
	return new TypeError(`the header ${name} must be text, a number or a list of text, got ${found}${where}`)
}
