/**
 * Answers under a Content-Type that is no JSON: text is sent as it is, without envelope. Asked by `reply.ts` and
 * `stream.ts` where the method has set headers.
 */
import type { HeaderLine } from '../exchange/exchange.ts'
import { isJsonType } from '../wire/json.ts'

/** The Content-Type that the method has set, where it is one, and no JSON. */
export function otherTypeOf(lines: ReadonlyMap<string, HeaderLine> | undefined): string | undefined {
	const value = lines?.get('content-type')?.[1]
	const type = typeof value === 'object' && value.length === 1 ? value[0] : value
	return typeof type !== 'string' || isJsonType(type) ? undefined : type
}

/**
 * The text that a value is under a type of its own: none of nothing, the texts of an array joined. `undefined` where
 * it is no text.
 *
 * @throws TypeError for an array of anything else
 */
export function textUnderType(value: unknown, type: string): string | undefined {
	if (value === undefined || value === null) return ''
	if (Array.isArray(value)) return value.map((one, at) => pieceUnderType(one, at, type)).join('')
	return typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol'
		? undefined
		: String(value)
}

/** One of several texts. @throws TypeError where it is none */
function pieceUnderType(piece: unknown, at: number, type: string): string {
	if (typeof piece === 'string') return piece
	throw new TypeError(`data[${at}] is ${kindOf(piece)}, under Content-Type ${type}: answer texts`)
}

/** One piece of many, as it is sent. @throws TypeError where it is neither text nor bytes */
export function pieceOf(piece: unknown, at: number, type: string): string | Uint8Array {
	return piece instanceof Uint8Array ? piece : pieceUnderType(piece, at, type)
}

/** @throws TypeError: JSON under the name of something else is understood by nobody */
export function refuseUnderType(value: unknown, type: string): never {
	throw new TypeError(
		`data is ${kindOf(value)}, under Content-Type ${type}: answer text, bytes, a stream or an iterable of texts, or JSON by this.respond(…)`,
	)
}

function kindOf(value: unknown): string {
	if (value === null || value === undefined) return String(value)
	if (typeof value !== 'object') return `a ${typeof value}`
	return Array.isArray(value) ? 'an array' : `an object (${value.constructor?.name ?? 'without prototype'})`
}
