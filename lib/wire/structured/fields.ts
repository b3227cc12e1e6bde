/**
 * Structured Fields (RFC 9651): dictionaries, lists and items of HTTP headers. Read by the letter: whatever the
 * grammar doesn't allow is refused as a whole, in one pass over the text.
 */
import { type BareItem, readBareItem, readKey, TRUE } from './bare-item.ts'
import { Scan } from './scan.ts'

/** What stands behind an item or an inner list, by name, in the order sent. */
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
/** Of several members with one name the last has won, at the place of the first. */
export type Dictionary = ReadonlyMap<string, Member>

const NONE: ItemParameters = new Map()

const TAB = 0x09
const SPACE = 0x20
const OPEN = 0x28
const CLOSE = 0x29
const COMMA = 0x2c
const SEMICOLON = 0x3b
const EQUALS = 0x3d

export function isInnerList(member: Member): member is InnerList {
	return 'items' in member
}

/** Reads a dictionary: `sig1=("@method");created=1, flag`. Empty text is an empty one. @throws SyntaxError */
export function parseDictionary(text: string): Dictionary {
	const members = new Map<string, Member>()
	readMembers(text, (scan) => {
		const key = readKey(scan)
		if (scan.code() === EQUALS) {
			scan.at++
			members.set(key, readMember(scan))
		} else members.set(key, { value: TRUE, parameters: readParameters(scan) })
	})
	return members
}

/** Reads a list: `a, "b";q=1, (c d)`. Empty text is an empty one. @throws SyntaxError */
export function parseList(text: string): List {
	const members: Member[] = []
	readMembers(text, (scan) => members.push(readMember(scan)))
	return members
}

/** Reads an item: `"a";q=1`. @throws SyntaxError */
export function parseItem(text: string): Item {
	const scan = new Scan(text)
	skipSpaces(scan)
	const item = readItem(scan)
	end(scan)
	return item
}

/** Members between commas, around which there may be spaces and tabs (RFC 9651 §4.2.1, §4.2.2). */
function readMembers(text: string, read: (scan: Scan) => void): void {
	const scan = new Scan(text)
	skipSpaces(scan)
	while (!scan.ended) {
		read(scan)
		skipWhitespace(scan)
		if (scan.ended) return
		if (scan.code() !== COMMA) throw scan.error('a comma')
		scan.at++
		skipWhitespace(scan)
		if (scan.ended) throw scan.error('a member behind the comma')
	}
}

function readMember(scan: Scan): Member {
	return scan.code() === OPEN ? readInnerList(scan) : readItem(scan)
}

function readInnerList(scan: Scan): InnerList {
	scan.at++
	const items: Item[] = []
	for (;;) {
		skipSpaces(scan)
		if (scan.code() === CLOSE) break
		items.push(readItem(scan))
		if (scan.code() !== SPACE && scan.code() !== CLOSE) throw scan.error('a space or )')
	}
	scan.at++
	return { items, parameters: readParameters(scan) }
}

function readItem(scan: Scan): Item {
	const value = readBareItem(scan)
	return { value, parameters: readParameters(scan) }
}

function readParameters(scan: Scan): ItemParameters {
	if (scan.code() !== SEMICOLON) return NONE
	const parameters = new Map<string, BareItem>()
	while (scan.code() === SEMICOLON) {
		scan.at++
		skipSpaces(scan)
		const key = readKey(scan)
		if (scan.code() === EQUALS) {
			scan.at++
			parameters.set(key, readBareItem(scan))
		} else parameters.set(key, TRUE)
	}
	return parameters
}

function skipSpaces(scan: Scan): void {
	while (scan.code() === SPACE) scan.at++
}

function skipWhitespace(scan: Scan): void {
	while (scan.code() === SPACE || scan.code() === TAB) scan.at++
}

function end(scan: Scan): void {
	skipSpaces(scan)
	if (!scan.ended) throw scan.error('the end')
}
