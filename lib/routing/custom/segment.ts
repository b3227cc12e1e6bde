/** Matches one segment of a path with a template, `page-%d`, and extracts the values of its placeholders. */
import type { Inner, Kind, Shape, Template } from './pattern.ts'

/** Most digits of `%d`, as many as 2^53 has; bounds the work on a segment of zeros. */
const MAX_DIGITS = 16
const MAX_LENGTH = MAX_DIGITS + 1
const MINUS = 45
const ZERO = 48

/**
 * The number `text[start, end)`, or `undefined`: an optional minus and 1 to 16 ASCII digits, within ±(2^53 - 1). Leading
 * zeros are allowed, and `-0` is 0.
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

/** Whether a segment matches a template. */
export function fits(template: Template, text: string): boolean {
	return text.startsWith(template.prefix) && text.endsWith(template.suffix) && fitsShape(template.shape, text)
}

/** Whether a segment with the right prefix and suffix has a value for each placeholder. */
export function fitsShape(shape: Shape, text: string): boolean {
	if (shape.kinds.length > 1) return cut(shape, text, [])
	const end = text.length - shape.after
	if (shape.kinds[0] === 'number') return parseNumber(text, shape.before, end) !== undefined
	return end > shape.before
}

/**
 * Appends the values of the placeholders in a matching segment.
 *
 * Placeholders are greedy from left to right, as in regular expressions: `%s.%s` cuts `a.tar.gz` into `a.tar` and `gz`.
 * Linear in the segment.
 */
export function take(shape: Shape, text: string, into: (string | number)[]): void {
	if (shape.kinds.length > 1) {
		cut(shape, text, into)
		return
	}
	into.push(valueIn(shape.kinds[0] ?? 'text', text, shape.before, text.length - shape.after))
}

/** Cuts a segment for two or more placeholders; returns whether it matches. */
function cut(shape: Shape, text: string, into: (string | number)[]): boolean {
	const end = text.length - shape.after
	return shape.kinds.includes('number')
		? cutNumbers(shape, text, end, into)
		: cutTexts(shape.before, shape.inner, text, end, into)
}

/**
 * Cuts `text[start, end)` at `inner` and the texts left of it, each at its rightmost occurrence: that leaves the most room to
 * its left, so no other need be tried.
 */
function cutTexts(
	start: number,
	inner: Inner | undefined,
	text: string,
	end: number,
	into: (string | number)[],
): boolean {
	if (inner === undefined) {
		if (end <= start) return false
		into.push(text.slice(start, end))
		return true
	}
	for (let at = end - inner.text.length - 1; at > start; at--) {
		if (!text.startsWith(inner.text, at)) continue
		if (!cutTexts(start, inner.left, text, at, into)) return false
		into.push(text.slice(at + inner.text.length, end))
		return true
	}
	return false
}

/** Where a placeholder may end so that all to its right matches. */
interface Ends {
	/** The rightmost such place, or -1. */
	greatest: number
	/** The leftmost such place that counts. */
	least: number
	/** 1 at each such place; `undefined` for text, where only `greatest` counts. */
	readonly all: Uint8Array | undefined
	/** Number of characters up to the next placeholder. */
	readonly gap: number
	readonly right: Ends | undefined
}

/** Finds where placeholders may end, right to left, then where they do, left to right. */
function cutNumbers(shape: Shape, text: string, end: number, into: (string | number)[]): boolean {
	let ends: Ends | undefined = { greatest: end, least: end, all: undefined, gap: 0, right: undefined }
	let hole = shape.kinds.length - 1
	for (let inner = shape.inner; inner !== undefined; inner = inner.left) {
		ends = findEnds(shape, --hole, inner.text, ends, text)
	}
	for (let start = shape.before; ends !== undefined; ends = ends.right) {
		const kind = shape.kinds[hole++] ?? 'text'
		const stop = furthest(kind, text, start, ends)
		if (stop === -1) return false
		into.push(valueIn(kind, text, start, stop))
		start = stop + ends.gap
	}
	return true
}

/** Where the placeholder `hole` may end, before `inner` and the placeholder that may end at `right`. */
function findEnds({ before, kinds }: Shape, hole: number, inner: string, right: Ends, text: string): Ends {
	const all = kinds[hole] === 'number' ? new Uint8Array(text.length + 1) : undefined
	const found: Ends = { greatest: -1, least: -1, all, gap: inner.length, right }
	const follower = kinds[hole + 1] ?? 'text'
	const reach = follower === 'number' ? MAX_LENGTH : text.length
	const first = Math.max(before + 1, right.least - reach - inner.length)
	for (let end = right.greatest - inner.length - 1; end >= first; end--) {
		if (!text.startsWith(inner, end)) continue
		if (furthest(follower, text, end + inner.length, right) === -1) continue
		found.greatest = Math.max(found.greatest, end)
		found.least = end
		if (all === undefined) break
		all[end] = 1
	}
	return found
}

/** The rightmost place where a placeholder that begins at `start` may end, or -1. */
function furthest(kind: Kind, text: string, start: number, ends: Ends): number {
	if (kind === 'text') return ends.greatest > start ? ends.greatest : -1
	for (let end = Math.min(ends.greatest, start + MAX_LENGTH); end > start; end--) {
		const allowed = ends.all === undefined ? end === ends.greatest : ends.all[end] === 1
		if (allowed && parseNumber(text, start, end) !== undefined) return end
	}
	return -1
}

function valueIn(kind: Kind, text: string, start: number, end: number): string | number {
	const value = kind === 'number' ? parseNumber(text, start, end) : undefined
	return value ?? text.slice(start, end)
}
