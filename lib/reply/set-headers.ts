/** Checks and stores the status and headers that a method sets. */
import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { Exchange, HeaderLine } from '../exchange/exchange.ts'
import type { ReplyOptions } from './custom-reply.ts'

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
	throw new RangeError(`a status must be a whole number from 200 to 599, got ${String(code)}`)
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
