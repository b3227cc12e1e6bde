/** Bare items of Structured Fields (RFC 9651 §3.3): their types, and the reading of one. */
import { decodeBase64 } from '../base64.ts'
import { isAlpha, isDigit, isLowerAlpha, isTokenCharacter, type Scan } from './scan.ts'

/** A single value, with its type, as `5`, `5.0`, `@5`, `"a"` and `a` are all different. */
export type BareItem =
	| { readonly type: 'integer' | 'decimal' | 'date'; readonly value: number }
	| { readonly type: 'string' | 'token' | 'display'; readonly value: string }
	| { readonly type: 'bytes'; readonly value: Uint8Array }
	| { readonly type: 'boolean'; readonly value: boolean }

export const TRUE: BareItem = Object.freeze({ type: 'boolean', value: true })
const FALSE: BareItem = Object.freeze({ type: 'boolean', value: false })

const QUOTE = 0x22
const PERCENT = 0x25
const STAR = 0x2a
const MINUS = 0x2d
const DOT = 0x2e
const COLON = 0x3a
const QUESTION = 0x3f
const AT = 0x40
const BACKSLASH = 0x5c
const UNDERSCORE = 0x5f

/** Reads what begins at the scan's place. @throws SyntaxError */
export function readBareItem(scan: Scan): BareItem {
	const code = scan.code()
	if (code === QUOTE) return { type: 'string', value: readString(scan) }
	if (code === MINUS || isDigit(code)) return readNumber(scan)
	if (code === COLON) return { type: 'bytes', value: readBytes(scan) }
	if (code === STAR || isAlpha(code)) return { type: 'token', value: readToken(scan) }
	if (code === QUESTION) return readBoolean(scan)
	if (code === AT) return readDate(scan)
	if (code === PERCENT) return { type: 'display', value: readDisplayString(scan) }
	throw scan.error('a value')
}

/** The name of a member or a parameter (RFC 9651 §4.2.3.3). @throws SyntaxError */
export function readKey(scan: Scan): string {
	const { text, at: from } = scan
	const first = text.charCodeAt(from)
	if (first !== STAR && !isLowerAlpha(first)) throw scan.error('a name in lower case')
	let at = from + 1
	while (isKeyCharacter(text.charCodeAt(at))) at++
	scan.at = at
	return text.slice(from, at)
}

function isKeyCharacter(code: number): boolean {
	return (
		isLowerAlpha(code) ||
		isDigit(code) ||
		code === UNDERSCORE ||
		code === MINUS ||
		code === DOT ||
		code === STAR
	)
}

/** Printable ASCII between quotes; only `"` and `\` are escaped (RFC 9651 §4.2.5). */
function readString(scan: Scan): string {
	const { text } = scan
	let from = scan.at + 1
	let at = from
	let value = ''
	for (; ; at++) {
		const code = text.charCodeAt(at)
		if (code === QUOTE) break
		if (code === BACKSLASH) {
			value += text.slice(from, at)
			from = ++at
			const escaped = text.charCodeAt(at)
			if (escaped !== QUOTE && escaped !== BACKSLASH) throw scan.error('" or \\ behind \\', at)
		} else if (!(code >= 0x20 && code < 0x7f)) throw scan.error('printable ASCII and a closing quote', at)
	}
	scan.at = at + 1
	return value + text.slice(from, at)
}

/** At most 15 digits, or 12 and a fraction of at most 3 (RFC 9651 §4.2.4). */
function readNumber(scan: Scan): BareItem {
	const start = scan.at
	if (scan.code() === MINUS) scan.at++
	const whole = skipDigits(scan)
	if (whole === 0) throw scan.error('a digit')
	if (scan.code() !== DOT) {
		if (whole > 15) throw scan.error('at most 15 digits')
		return { type: 'integer', value: Number(scan.text.slice(start, scan.at)) }
	}
	if (whole > 12) throw scan.error('at most 12 digits before the point')
	scan.at++
	const fraction = skipDigits(scan)
	if (fraction === 0 || fraction > 3) throw scan.error('1 to 3 digits behind the point')
	return { type: 'decimal', value: Number(scan.text.slice(start, scan.at)) }
}

function skipDigits(scan: Scan): number {
	const from = scan.at
	while (isDigit(scan.code())) scan.at++
	return scan.at - from
}

function readToken(scan: Scan): string {
	const from = scan.at
	while (isTokenCharacter(scan.code())) scan.at++
	return scan.text.slice(from, scan.at)
}

function readBytes(scan: Scan): Uint8Array {
	const end = scan.text.indexOf(':', scan.at + 1)
	const bytes = end === -1 ? undefined : decodeBase64(scan.text.slice(scan.at + 1, end))
	if (bytes === undefined) throw scan.error('base64 between colons')
	scan.at = end + 1
	return bytes
}

function readBoolean(scan: Scan): BareItem {
	scan.at++
	const digit = scan.text[scan.at]
	if (digit !== '0' && digit !== '1') throw scan.error('0 or 1')
	scan.at++
	return digit === '1' ? TRUE : FALSE
}

function readDate(scan: Scan): BareItem {
	scan.at++
	const number = readNumber(scan)
	if (number.type !== 'integer') throw scan.error('whole seconds')
	return { type: 'date', value: number.value }
}

/** UTF-8 in printable ASCII, the rest as `%` and two digits in lower case (RFC 9651 §4.2.10). */
function readDisplayString(scan: Scan): string {
	scan.at++
	if (scan.code() !== QUOTE) throw scan.error('a quote')
	const end = scan.text.indexOf('"', scan.at + 1)
	const text = end === -1 ? '%' : scan.text.slice(scan.at + 1, end)
	if (!/^(?:[\x20-\x24\x26-\x7e]|%[\da-f]{2})*$/.test(text))
		throw scan.error('escaped UTF-8 and a closing quote')
	try {
		const value = decodeURIComponent(text)
		scan.at = end + 1
		return value
	} catch {
		throw scan.error('UTF-8')
	}
}
