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

/** Patterns for `Scanner.match`; sticky, so that they match only at the scanner's position. */
const WHITESPACE = /[ \t]*/y
/** Printable ASCII except `"` and `\`. */
const UNESCAPED = /[ !#-[\]-~]*/y
const DIGITS = /\d*/y
/** The name of a member or a parameter (RFC 9651 §4.2.3.3). */
const KEY = /[a-z*][a-z\d_.*-]*/y
/** The token characters of RFC 9110 §5.6.2, and `:` and `/` (RFC 9651 §3.3.4). */
const TOKEN = /[A-Za-z*][!#$%&'*+.^`|~\w:/-]*/y

export function isInnerList(member: Member): member is InnerList {
	return 'items' in member
}

/** Parses a dictionary, which may be empty: `sig1=("@method");created=1, flag`. @throws SyntaxError */
export function parseDictionary(text: string): Dictionary {
	const members = new Map<string, Member>()
	readMembers(text, (scan) => {
		const key = readKey(scan)
		const hasValue = scan.take('=')
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
	scan.skipSpaces()
	const item = readItem(scan)
	scan.skipSpaces()
	if (!scan.isAtEnd) throw scan.error('the end')
	return item
}

/** Reads comma-separated members, with optional spaces and tabs around the commas (RFC 9651 §4.2.1, §4.2.2). */
function readMembers(text: string, read: (scan: Scanner) => void): void {
	const scan = new Scanner(text)
	scan.skipSpaces()
	while (!scan.isAtEnd) {
		read(scan)
		scan.match(WHITESPACE)
		if (scan.isAtEnd) return
		if (!scan.take(',')) throw scan.error('a comma')
		scan.match(WHITESPACE)
		if (scan.isAtEnd) throw scan.error('a member after the comma')
	}
}

function readMember(scan: Scanner): Member {
	return scan.next === '(' ? readInnerList(scan) : readItem(scan)
}

function readInnerList(scan: Scanner): InnerList {
	scan.at++
	const items: Item[] = []
	scan.skipSpaces()
	while (!scan.take(')')) {
		items.push(readItem(scan))
		if (scan.next !== ' ' && scan.next !== ')') throw scan.error('a space or )')
		scan.skipSpaces()
	}
	return { items, parameters: readParameters(scan) }
}

function readItem(scan: Scanner): Item {
	const value = readBareItem(scan)
	return { value, parameters: readParameters(scan) }
}

function readParameters(scan: Scanner): ItemParameters {
	if (scan.next !== ';') return NONE
	const parameters = new Map<string, BareItem>()
	while (scan.take(';')) {
		scan.skipSpaces()
		const key = readKey(scan)
		parameters.set(key, scan.take('=') ? readBareItem(scan) : TRUE)
	}
	return parameters
}

function readBareItem(scan: Scanner): BareItem {
	const { next } = scan
	if (next === '"') return { type: 'string', value: readString(scan) }
	if (next === ':') return { type: 'bytes', value: readBytes(scan) }
	if (next === '?') return readBoolean(scan)
	if (next === '@') return readDate(scan)
	if (next === '%') return { type: 'display', value: readDisplayString(scan) }
	if (next === '-' || (next >= '0' && next <= '9')) return readNumber(scan)
	const token = scan.match(TOKEN)
	if (token === '') throw scan.error('a value')
	return { type: 'token', value: token }
}

function readKey(scan: Scanner): string {
	const key = scan.match(KEY)
	if (key === '') throw scan.error('a name in lower case')
	return key
}

/** Printable ASCII between quotes; only `"` and `\` are escaped (RFC 9651 §4.2.5). */
function readString(scan: Scanner): string {
	scan.at++
	let value = scan.match(UNESCAPED)
	while (!scan.take('"')) {
		if (!scan.take('\\')) throw scan.error('printable ASCII and a closing quote')
		const { next } = scan
		if (!scan.take('"') && !scan.take('\\')) throw scan.error('" or \\ after \\')
		value += next + scan.match(UNESCAPED)
	}
	return value
}

/** At most 15 digits, or 12 and a fraction of at most 3 (RFC 9651 §4.2.4). */
function readNumber(scan: Scanner): BareItem {
	const start = scan.at
	scan.take('-')
	const whole = scan.match(DIGITS).length
	if (whole === 0) throw scan.error('a digit')
	if (scan.next !== '.') {
		if (whole > 15) throw scan.error('at most 15 digits')
		return { type: 'integer', value: Number(scan.text.slice(start, scan.at)) }
	}
	if (whole > 12) throw scan.error('at most 12 digits before the point')
	scan.at++
	const fraction = scan.match(DIGITS).length
	if (fraction === 0 || fraction > 3) throw scan.error('1 to 3 digits after the point')
	return { type: 'decimal', value: Number(scan.text.slice(start, scan.at)) }
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
	if (scan.take('1')) return TRUE
	if (scan.take('0')) return FALSE
	throw scan.error('0 or 1')
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
	if (scan.next !== '"') throw scan.error('a quote')
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

	/** The next character; empty at the end. */
	get next(): string {
		return this.text.charAt(this.at)
	}

	get isAtEnd(): boolean {
		return this.at >= this.text.length
	}

	/** Skips the next character if it is this one. */
	take(char: string): boolean {
		if (this.next !== char) return false
		this.at++
		return true
	}

	skipSpaces(): void {
		while (this.text[this.at] === ' ') this.at++
	}

	/** Skips what a sticky pattern matches, and returns it; empty if it doesn't match. */
	match(pattern: RegExp): string {
		const from = this.at
		pattern.lastIndex = from
		if (pattern.test(this.text)) this.at = pattern.lastIndex
		return this.text.slice(from, this.at)
	}

	/** The message never quotes the text, which a client sent. */
	error(expected: string, at = this.at): SyntaxError {
		return new SyntaxError(`${expected} was expected at character ${at + 1}`)
	}
}
