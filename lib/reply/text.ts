/** Answers that are text, and the headers that every answer has. */
import type { Readable } from 'node:stream'
import type { Exchange, HeaderLine } from '../exchange/exchange.ts'
import { isJsonType } from '../wire/json.ts'
import { addOwnLines, hasOwnLines } from './own-lines.ts'

/** What is sent. A body that is no text or bytes is sent in chunks, as the client takes them. */
export interface Reply {
	readonly status: number
	/** Names and values in turn. */
	readonly headers: string[]
	readonly body: string | Uint8Array | Readable | AsyncIterable<string | Uint8Array> | null
	/** Set for text of one byte a character: it is written without a look at each. */
	readonly ascii?: boolean
}

export const JSON_TYPE = 'application/json; charset=utf-8'
export const NOSNIFF = 'X-Content-Type-Options'
/** For what may be a page of somebody else's: its scripts don't run, and it has no origin. */
export const SANDBOX = ['Content-Security-Policy', 'sandbox'] as const
export const BYTES_TYPE = 'application/octet-stream'
export const BYTES_SAFETY: readonly string[] = [NOSNIFF, 'nosniff', ...SANDBOX]

/** A text with its type and length in bytes. */
export function textual(
	exchange: Exchange,
	status: number,
	type: string,
	text: string,
	length = Buffer.byteLength(text),
): Reply {
	return {
		status,
		headers: headers(exchange, ['Content-Type', type, 'Content-Length', String(length), NOSNIFF, 'nosniff']),
		body: exchange.method === 'HEAD' ? null : text,
		ascii: length === text.length,
	}
}

/** The status that the method has asked for, else 200. */
export function statusOf({ status }: Exchange): number {
	return status === 0 ? 200 : status
}

/** Whether answers of this status have no body (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
export function hasNoContent(status: number): boolean {
	return status === 204 || status === 205 || status === 304
}

export function bodiless(exchange: Exchange): Reply {
	return { status: statusOf(exchange), headers: headers(exchange, [NOSNIFF, 'nosniff']), body: null }
}

/** The usual headers, each replaced by what the method has set under the same name, and the others it has set. */
export function headers(exchange: Exchange, usual: string[]): string[] {
	const lines = exchange.headerLines
	const { requestId } = exchange.app
	if (requestId !== undefined) usual.push(requestId, exchange.id())
	if (exchange.standing !== undefined) usual.push(...exchange.standing)
	const all = lines === undefined ? usual : merged(usual, lines)
	if (hasOwnLines(exchange)) addOwnLines(exchange, all)
	return all
}

function merged(usual: string[], lines: ReadonlyMap<string, HeaderLine>): string[] {
	// Of another type than ours it may be a page with a script in what somebody else has written.
	const type = lines.get('content-type')?.[1]
	if (type !== undefined && !isJson(type) && !usual.includes(SANDBOX[0])) usual.push(...SANDBOX)
	const all: string[] = []
	for (let at = 0; at < usual.length; at += 2) {
		const name = usual[at] ?? ''
		if (!lines.has(name.toLowerCase())) all.push(name, usual[at + 1] ?? '')
	}
	for (const [name, value] of lines.values()) {
		if (typeof value === 'string') all.push(name, value)
		else for (const one of value) all.push(name, one)
	}
	return all
}

/** Of several types it is a browser's to choose, and of none too. */
function isJson(type: string | readonly string[]): boolean {
	if (typeof type === 'string') return isJsonType(type)
	return type.length > 0 && type.every(isJsonType)
}
