/**
 * Parses Structured Fields (RFC 9651), the dictionaries, lists and items in HTTP headers. Used for signatures and
 * digests, by server and client. Single pass and strict: any deviation from the grammar is an error.
 */
import { decodeBase64 } from './base64.ts'

/** A single value with its type: `5`, `5.0`, `@5`, `"a"` and `a` are all different. */
export type BareItem =
	| { readonly type: 'integer' | 'decimal' | 'date'; readonly value: number }
	| { readonly type: 'string' | 'token' | 'display'; readonly value: string }
	| { readonly type: 'bytes'; readonly value: Uint8Array }
	| { readonly type: 'boolean'; readonly value: boolean }

const TRUE: BareItem = { type: 'boolean', value: true }
const FALSE: BareItem = { type: 'boolean', value: false }

/** The parameters of an item or an inner list, in the order sent. */
export type ItemParameters = ReadonlyMap<string, BareItem>

export interface Item {
	readonly value: BareItem
	readonly parameters: ItemParameters
}

export interface InnerList {
	readonly items: readonly Item[]
	readonly parameters: ItemParameters
}

export type Member = Item | InnerList
export type List = readonly Member[]
/** When a name is repeated, the last value wins, in the position of the first. */
export type Dictionary = ReadonlyMap<string, Member>

const NONE: ReadonlyMap<string, BareItem> = new Map()

const TAB = 0x09
const SPACE = 0x20
const QUOTE = 0x22
const PERCENT = 0x25
const OPEN = 0x28
const CLOSE = 0x29
const STAR = 0x2a
const COMMA = 0x2c
const MINUS = 0x2d
const DOT = 0x2e
const COLON = 0x3a
const SEMICOLON = 0x3b
const EQUALS = 0x3d
const QUESTION = 0x3f
const AT = 0x40
const BACKSLASH = 0x5c

export function isInnerList(member: Member): member is InnerList {
	return 'items' in member
}

/** Parses a dictionary, which may be empty: `sig1=("@method");created=1, flag`. @throws SyntaxError */
export function parseDictionary(text: string): Dictionary {
	const members = new Map<string, Member>()
	readMembers(text, (scan) => {
		const key = readKey(scan)
		const hasValue = scan.take(EQUALS)
		members.set(key, hasValue ? readMember(scan) : { value: TRUE, parameters: readParameters(scan) })
	})
	return members
}

/** Parses a list, which may be empty: `a, "b";q=1, (c d)`. @throws SyntaxError */
export function parseList(text: string): List {
	const members: Member[] = []
	readMembers(text, (scan) => members.push(readMember(scan)))
	return members
}

/** Parses an item: `"a";q=1`. @throws SyntaxError */
export function parseItem(text: string): Item {
	const scan = new Scanner(text)
	skipSpaces(scan)
	const item = readItem(scan)
	skipSpaces(scan)
	if (!scan.isAtEnd) throw scan.error('the end')
	return item
}

/** Reads comma-separated members, with optional spaces and tabs around the commas (RFC 9651 §4.2.1, §4.2.2). */
function readMembers(text: string, read: (scan: Scanner) => void): void {
	const scan = new Scanner(text)
	skipSpaces(scan)
	while (!scan.isAtEnd) {
		read(scan)
		skipWhitespace(scan)
		if (scan.isAtEnd) return
		if (!scan.take(COMMA)) throw scan.error('a comma')
		skipWhitespace(scan)
		if (scan.isAtEnd) throw scan.error('a member after the comma')
	}
}

function readMember(scan: Scanner): Member {
	return scan.code() === OPEN ? readInnerList(scan) : readItem(scan)
}

function readInnerList(scan: Scanner): InnerList {
	scan.at++
	const items: Item[] = []
	skipSpaces(scan)
	while (!scan.take(CLOSE)) {
		items.push(readItem(scan))
		if (scan.code() !== SPACE && scan.code() !== CLOSE) throw scan.error('a space or )')
		skipSpaces(scan)
	}
	return { items, parameters: readParameters(scan) }
}

function readItem(scan: Scanner): Item {
	const value = readBareItem(scan)
	return { value, parameters: readParameters(scan) }
}

function readParameters(scan: Scanner): ItemParameters {
	if (scan.code() !== SEMICOLON) return NONE
	const parameters = new Map<string, BareItem>()
	while (scan.take(SEMICOLON)) {
		skipSpaces(scan)
		const key = readKey(scan)
		parameters.set(key, scan.take(EQUALS) ? readBareItem(scan) : TRUE)
	}
	return parameters
}

function skipSpaces(scan: Scanner): void {
	while (scan.code() === SPACE) scan.at++
}

function skipWhitespace(scan: Scanner): void {
	while (scan.code() === SPACE || scan.code() === TAB) scan.at++
}

function readBareItem(scan: Scanner): BareItem {
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
function readKey(scan: Scanner): string {
	const { text, at: from } = scan
	const first = text.charCodeAt(from)
	if (first !== STAR && !isLowerAlpha(first)) throw scan.error('a name in lower case')
	let at = from + 1
	while (isKeyCharacter(text.charCodeAt(at))) at++
	scan.at = at
	return text.slice(from, at)
}

function isKeyCharacter(code: number): boolean {
	return isLowerAlpha(code) || isDigit(code) || '_-.*'.includes(String.fromCharCode(code))
}

/** Printable ASCII between quotes; only `"` and `\` are escaped (RFC 9651 §4.2.5). */
function readString(scan: Scanner): string {
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
			if (escaped !== QUOTE && escaped !== BACKSLASH) throw scan.error('" or \\ after \\', at)
		} else if (!(code >= 0x20 && code < 0x7f)) throw scan.error('printable ASCII and a closing quote', at)
	}
	scan.at = at + 1
	return value + text.slice(from, at)
}

/** At most 15 digits, or 12 and a fraction of at most 3 (RFC 9651 §4.2.4). */
function readNumber(scan: Scanner): BareItem {
	const start = scan.at
	scan.take(MINUS)
	const whole = skipDigits(scan)
	if (whole === 0) throw scan.error('a digit')
	if (scan.code() !== DOT) {
		if (whole > 15) throw scan.error('at most 15 digits')
		return { type: 'integer', value: Number(scan.text.slice(start, scan.at)) }
	}
	if (whole > 12) throw scan.error('at most 12 digits before the point')
	scan.at++
	const fraction = skipDigits(scan)
	if (fraction === 0 || fraction > 3) throw scan.error('1 to 3 digits after the point')
	return { type: 'decimal', value: Number(scan.text.slice(start, scan.at)) }
}

function skipDigits(scan: Scanner): number {
	const from = scan.at
	while (isDigit(scan.code())) scan.at++
	return scan.at - from
}

function readToken(scan: Scanner): string {
	const from = scan.at
	while (isTokenCharacter(scan.code())) scan.at++
	return scan.text.slice(from, scan.at)
}

function readBytes(scan: Scanner): Uint8Array {
	const end = scan.text.indexOf(':', scan.at + 1)
	const bytes = end === -1 ? undefined : decodeBase64(scan.text.slice(scan.at + 1, end))
	if (bytes === undefined) throw scan.error('base64 between colons')
	scan.at = end + 1
	return bytes
}

function readBoolean(scan: Scanner): BareItem {
	scan.at++
	const digit = scan.text[scan.at]
	if (digit !== '0' && digit !== '1') throw scan.error('0 or 1')
	scan.at++
	return digit === '1' ? TRUE : FALSE
}

function readDate(scan: Scanner): BareItem {
	scan.at++
	const number = readNumber(scan)
	if (number.type !== 'integer') throw scan.error('whole seconds')
	return { type: 'date', value: number.value }
}

/** UTF-8 bytes: printable ASCII as it is, the rest as `%` and two hex digits in lower case (RFC 9651 §4.2.10). */
function readDisplayString(scan: Scanner): string {
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

/** The text being parsed, and the position in it. */
class Scanner {
	readonly text: string
	/** Index of the next character. */
	at = 0

	constructor(text: string) {
		this.text = text
	}

	/** Code of the next character; NaN at the end. */
	code(): number {
		return this.text.charCodeAt(this.at)
	}

	get isAtEnd(): boolean {
		return this.at >= this.text.length
	}

	/** Skips the next character if it is this one. */
	take(code: number): boolean {
		if (this.code() !== code) return false
		this.at++
		return true
	}

	/** The message never quotes the text, which a client sent. */
	error(expected: string, at = this.at): SyntaxError {
		return new SyntaxError(`${expected} was expected at character ${at + 1}`)
	}
}

function isDigit(code: number): boolean {
	return code >= 0x30 && code <= 0x39
}

function isLowerAlpha(code: number): boolean {
	return code >= 0x61 && code <= 0x7a
}

function isAlpha(code: number): boolean {
	return isLowerAlpha(code) || (code >= 0x41 && code <= 0x5a)
}

/** The token characters of RFC 9110 §5.6.2, and `:` and `/` (RFC 9651 §3.3.4). */
function isTokenCharacter(code: number): boolean {
	return isAlpha(code) || isDigit(code) || "!#$%&'*+-.^_`|~:/".includes(String.fromCharCode(code))
}
