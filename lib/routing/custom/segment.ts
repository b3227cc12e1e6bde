/** Matches one segment of a path with a template, `page-%d`, and extracts the values of its placeholders. */
import type { Infix, Kind, Shape, Template } from './pattern.ts'

/** Maximum number of digits of `%d`, as many as 2^53 has. Limits the time for a segment of zeros. */
const MAX_DIGITS = 16
/** With the sign. */
const MAX_NUMBER_LENGTH = MAX_DIGITS + 1
const MINUS = 45
const ZERO = 48

/**
 * Parses `text[start, end)`: an optional minus and 1 to 16 ASCII digits, within ±(2^53 - 1); `undefined` if it is
 * anything else. Leading zeros are allowed, and `-0` is 0.
 */
export function parseNumber(text: string, start: number, end: number): number | undefined {
	const negative = text.charCodeAt(start) === MINUS
	const first = negative ? start + 1 : start
	if (end <= first || end - first > MAX_DIGITS) return undefined
	let value = 0
	for (let at = first; at < end; at++) {
		const digit = text.charCodeAt(at) - ZERO
		if (digit < 0 || digit > 9) return undefined
		value = value * 10 + digit
	}
	if (value > Number.MAX_SAFE_INTEGER) return undefined
	return negative ? 0 - value : value
}

export function matchesTemplate({ prefix, suffix, shape }: Template, text: string): boolean {
	return text.startsWith(prefix) && text.endsWith(suffix) && matchesShape(shape, text)
}

/** Whether a segment with a matching prefix and suffix has a value for each placeholder. */
export function matchesShape(shape: Shape, text: string): boolean {
	if (shape.kinds.length > 1) return split(shape, text, [])
	const end = text.length - shape.after
	if (shape.kinds[0] === 'number') return parseNumber(text, shape.before, end) !== undefined
	return end > shape.before
}

/**
 * Appends the values of the placeholders in a matching segment.
 *
 * Placeholders are greedy from left to right, as in regular expressions: `%s.%s` splits `a.tar.gz` into `a.tar` and `gz`.
 * In linear time.
 */
export function appendValues(shape: Shape, text: string, into: (string | number)[]): void {
	if (shape.kinds.length > 1) {
		split(shape, text, into)
		return
	}
	into.push(valueIn(shape.kinds[0] ?? 'text', text, shape.before, text.length - shape.after))
}

/** Splits a segment for two or more placeholders; returns whether it matches. */
function split(shape: Shape, text: string, into: (string | number)[]): boolean {
	const end = text.length - shape.after
	return shape.kinds.includes('number')
		? splitWithNumbers(shape, text, end, into)
		: splitTexts(shape.before, shape.infix, text, end, into)
}

/**
 * Splits `text[start, end)` at `infix` and the infixes left of it, each at its rightmost occurrence. That leaves the
 * most room to the left, so no backtracking is needed.
 */
function splitTexts(
	start: number,
	infix: Infix | undefined,
	text: string,
	end: number,
	into: (string | number)[],
): boolean {
	if (infix === undefined) {
		if (end <= start) return false
		into.push(text.slice(start, end))
		return true
	}
	for (let at = end - infix.text.length - 1; at > start; at--) {
		if (!text.startsWith(infix.text, at)) continue
		if (!splitTexts(start, infix.left, text, at, into)) return false
		into.push(text.slice(at + infix.text.length, end))
		return true
	}
	return false
}

/** The positions where a placeholder may end so that everything to its right matches. */
interface Ends {
	/** The rightmost position, or -1. */
	last: number
	/** The leftmost position found; for text the same as `last`, where the search stops. */
	first: number
	/** 1 at each position; `undefined` for text, which only needs `last`. */
	readonly all: Uint8Array | undefined
	/** Number of characters up to the next placeholder. */
	readonly gap: number
	readonly right: Ends | undefined
}

/** Finds where placeholders may end, from right to left, then chooses where they do, from left to right. */
function splitWithNumbers(shape: Shape, text: string, end: number, into: (string | number)[]): boolean {
	let ends: Ends | undefined = { last: end, first: end, all: undefined, gap: 0, right: undefined }
	let index = shape.kinds.length - 1
	for (let { infix } = shape; infix !== undefined; infix = infix.left) {
		ends = findEnds(shape, --index, infix.text, ends, text)
	}
	for (let start = shape.before; ends !== undefined; ends = ends.right) {
		const kind = shape.kinds[index++] ?? 'text'
		const stop = lastEnd(kind, text, start, ends)
		if (stop === -1) return false
		into.push(valueIn(kind, text, start, stop))
		start = stop + ends.gap
	}
	return true
}

/** Where the placeholder at `index` may end, before `infix` and the next placeholder, which may end at `right`. */
function findEnds({ before, kinds }: Shape, index: number, infix: string, right: Ends, text: string): Ends {
	const all = kinds[index] === 'number' ? new Uint8Array(text.length + 1) : undefined
	const found: Ends = { last: -1, first: -1, all, gap: infix.length, right }
	const next = kinds[index + 1] ?? 'text'
	const maxLength = next === 'number' ? MAX_NUMBER_LENGTH : text.length
	const first = Math.max(before + 1, right.first - maxLength - infix.length)
	for (let end = right.last - infix.length - 1; end >= first; end--) {
		if (!text.startsWith(infix, end)) continue
		if (lastEnd(next, text, end + infix.length, right) === -1) continue
		found.last = Math.max(found.last, end)
		found.first = end
		if (all === undefined) break
		all[end] = 1
	}
	return found
}

/** The rightmost position where a placeholder that begins at `start` may end, or -1. */
function lastEnd(kind: Kind, text: string, start: number, ends: Ends): number {
	if (kind === 'text') return ends.last > start ? ends.last : -1
	for (let end = Math.min(ends.last, start + MAX_NUMBER_LENGTH); end > start; end--) {
		const isAllowed = ends.all === undefined ? end === ends.last : ends.all[end] === 1
		if (isAllowed && parseNumber(text, start, end) !== undefined) return end
	}
	return -1
}

function valueIn(kind: Kind, text: string, start: number, end: number): string | number {
	const value = kind === 'number' ? parseNumber(text, start, end) : undefined
	return value ?? text.slice(start, end)
}
