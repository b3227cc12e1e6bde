/**
 * Decodes JSON bodies. The hot path of every POST: `JSON.parse` without reviver, a few searches of the text, and a walk
 * through the value only if these find something.
 */
import type { Buffer } from 'node:buffer'
import { RestError } from '../../base/error.ts'
import { decodeUtf8 } from './content-type.ts'
import { type JsonFault, scanJson } from './json-scan.ts'

/** Maximum depth of nested arrays and objects; `[]` is one level. */
export const MAX_DEPTH = 64

/**
 * The value of a JSON text (RFC 8259); a byte order mark is skipped. If a key is repeated, the last value wins.
 *
 *     decodeJson(Buffer.from('{"title":}'))
 *     400 The body is malformed JSON at line 1, column 10: expected a value
 *
 * Lines and columns count from 1, columns in UTF-16 units as editors do.
 *
 * @throws RestError `bad_request` when it is empty, not UTF-8, malformed, nested deeper than
 * {@link MAX_DEPTH}, or has a key `__proto__`, or a key `prototype` in the value of a key `constructor`
 */
export function decodeJson(bytes: Buffer): unknown {
	let text = decodeUtf8(bytes, 'The body')
	if (text.charCodeAt(0) === 0xfeff) text = text.slice(1)
	if (text === '') throw new RestError('bad_request', 'The body is empty, but its Content-Type says JSON')
	const value = parse(text)
	if (!isContainer(value)) return value
	const braces = countBraces(text)
	if (mayHoldReserved(text, braces)) walk(value, MAX_DEPTH)
	else checkDepth(value, text, braces.count)
	return value
}

/**
 * Checks a value from another parser, of a body or of JSON in a query, as {@link decodeJson} does.
 *
 * @throws RestError `bad_request` for a value nested too deeply, and for reserved keys
 */
export function checkParsed(value: unknown): void {
	if (isContainer(value)) walk(value, MAX_DEPTH)
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text)
	} catch (cause) {
		// V8's message quotes the text and often has no position.
		const fault = scanJson(text)
		if (fault === undefined) throw cause
		throw malformed(text, fault)
	}
}

function malformed(text: string, { offset, expected }: JsonFault): RestError {
	const before = text.slice(0, offset).split('\n')
	const column = (before.at(-1) ?? '').length + 1
	const end = offset === text.length ? ', where it ends' : ''
	const place = `line ${before.length}, column ${column}${end}`
	return new RestError('bad_request', `The body is malformed JSON at ${place}: expected ${expected}`)
}

interface Braces {
	/** The number of `{`, including those in strings. */
	readonly count: number
	/** Whether a `{` may begin the value of a key: it follows neither `[` nor `,`, and isn't the first character. */
	readonly hasInner: boolean
}

function countBraces(text: string): Braces {
	let count = 0
	let hasInner = false
	for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) {
		const before = at === 0 ? COMMA : text.charCodeAt(at - 1)
		if (before !== COMMA && before !== OPENING_BRACKET) hasInner = true
		count++
	}
	return { count, hasInner }
}

const COMMA = 0x2c
const OPENING_BRACKET = 0x5b

/**
 * Whether the text may have a reserved key. Reserved names can be spelled differently only with escapes (`\u`).
 * `prototype` is searched for only if some key's value is an object: finding a word with a common first letter is slow.
 */
function mayHoldReserved(text: string, { hasInner }: Braces): boolean {
	if (text.indexOf('__proto__') !== -1 || text.indexOf('\\u') !== -1) return true
	return hasInner && text.indexOf('prototype') !== -1
}

function countBrackets(text: string): number {
	let count = 0
	for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1)) count++
	return count
}

function isContainer(value: unknown): value is object {
	return typeof value === 'object' && value !== null
}

/**
 * Refuses a value nested too deeply. Goes level by level until all brackets of the text are found, so that the records of a
 * flat list are never visited.
 */
function checkDepth(value: object, text: string, braces: number): void {
	if (text.length <= MAX_DEPTH) return
	let left = braces + countBrackets(text) - 1
	if (left < MAX_DEPTH) return
	let level = [itemsOf(value)]
	for (let depth = 1; left > 0 && level.length > 0; depth++) {
		const found = countContainers(level)
		if (found > 0 && depth === MAX_DEPTH) throw tooDeep()
		left -= found
		if (left > 0) level = nextLevel(level)
	}
}

function itemsOf(container: object): readonly unknown[] {
	return Array.isArray(container) ? container : Object.values(container)
}

function countContainers(level: readonly (readonly unknown[])[]): number {
	let found = 0
	for (const items of level) for (const item of items) if (isContainer(item)) found++
	return found
}

function nextLevel(level: readonly (readonly unknown[])[]): (readonly unknown[])[] {
	const next: (readonly unknown[])[] = []
	for (const items of level) for (const item of items) if (isContainer(item)) next.push(itemsOf(item))
	return next
}

/**
 * Refuses deep nesting: `JSON.stringify` throws at some thousands of levels, so reading a stored document would be a
 * 500. Also refuses prototype pollution: `Object.assign({}, body)` would set a prototype by `__proto__`, and a deep
 * merge would reach `Object.prototype` through `constructor.prototype`.
 */
function walk(container: object, levels: number): void {
	if (levels === 0) throw tooDeep()
	if (Array.isArray(container)) {
		for (const item of container as unknown[]) if (isContainer(item)) walk(item, levels - 1)
		return
	}
	walkObject(container as Record<string, unknown>, levels)
}

function walkObject(record: Record<string, unknown>, levels: number): void {
	// for-in is several times as fast as Object.keys, but includes keys that a program has added to Object.prototype. So
	// `hasOwn` is checked, but only for containers: other values aren't used.
	for (const key in record) {
		if (key === '__proto__') throw reserved('__proto__')
		const value = record[key]
		if (!isContainer(value) || !Object.hasOwn(record, key)) continue
		if (key === 'constructor' && Object.hasOwn(value, 'prototype')) throw reserved('constructor.prototype')
		walk(value, levels - 1)
	}
}

function tooDeep(): RestError {
	return new RestError('bad_request', `The JSON is nested too deeply: there may be ${MAX_DEPTH} levels`)
}

function reserved(name: string): RestError {
	return new RestError('bad_request', `The JSON has a key ${name}, which is reserved: leave it out`)
}
