/** Compares one segment of a path with a template, `page-%d`, and takes out what its placeholders stand for. */
import type { Kind, Shape, Template } from './pattern.ts'

/** `%d` takes at most this many digits: as many as 2^53 has. It bounds the work on a segment of zeros. */
const MAX_DIGITS = 16
const MINUS = 45
const ZERO = 48

/**
 * The number that `text[start, end)` spells, or `undefined`: an optional minus and 1 to 16 ASCII
 * digits, within ±(2^53 - 1). Leading zeros are allowed, and `-0` is 0.
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

/** Whether a segment fits a template. */
export function fits(template: Template, text: string): boolean {
	return text.startsWith(template.prefix) && text.endsWith(template.suffix) && fitsShape(template.shape, text)
}

/** Whether a segment, which begins and ends as it must, has something for each placeholder. */
export function fitsShape(shape: Shape, text: string): boolean {
	if (shape.kinds.length > 1) return cut(shape, text, [])
	const end = text.length - shape.after
	if (shape.kinds[0] === 'number') return parseNumber(text, shape.before, end) !== undefined
	return end > shape.before
}

/**
 * Appends what the placeholders take of a segment that fits.
 *
 * Where there is a choice the first takes as much as it can, then the second, as in regular
 * expressions: `%s.%s` cuts `a.tar.gz` into `a.tar` and `gz`. In time linear in the segment.
 */
export function take(shape: Shape, text: string, into: (string | number)[]): void {
	if (shape.kinds.length > 1) {
		cut(shape, text, into)
		return
	}
	into.push(valueOf(shape.kinds[0] ?? 'text', text, shape.before, text.length - shape.after))
}

/** Where a placeholder may end so that everything after it fits. */
interface Ends {
	/** The rightmost such place; -1 where there is none. */
	greatest: number
	/** 1 at each such place. `undefined` where only `greatest` counts: text can always reach further. */
	readonly all: Uint8Array | undefined
}

/** Finds right to left where placeholders may end, then left to right where they do. */
function cut(shape: Shape, text: string, into: (string | number)[]): boolean {
	const ends = findEnds(shape, text)
	let start = shape.before
	for (const [at, kind] of shape.kinds.entries()) {
		const allowed = ends[at]
		const end = allowed === undefined ? -1 : furthest(kind, text, start, allowed)
		if (end === -1) return false
		into.push(valueOf(kind, text, start, end))
		start = end + (shape.inners[at]?.length ?? 0)
	}
	return true
}

function findEnds({ before, after, kinds, inners }: Shape, text: string): Ends[] {
	let next: Ends = { greatest: text.length - after, all: undefined }
	const ends = [next]
	for (let at = inners.length - 1; at >= 0; at--) {
		const inner = inners[at] ?? ''
		const all = kinds[at] === 'number' ? new Uint8Array(text.length + 1) : undefined
		const found: Ends = { greatest: -1, all }
		for (let end = next.greatest - inner.length - 1; end > before; end--) {
			if (!text.startsWith(inner, end)) continue
			if (furthest(kinds[at + 1] ?? 'text', text, end + inner.length, next) === -1) continue
			found.greatest = Math.max(found.greatest, end)
			if (all === undefined) break
			all[end] = 1
		}
		next = found
		ends.unshift(next)
	}
	return ends
}

/** The rightmost place where a placeholder that begins at `start` may end, or -1. */
function furthest(kind: Kind, text: string, start: number, ends: Ends): number {
	if (kind === 'text') return ends.greatest > start ? ends.greatest : -1
	for (let end = Math.min(ends.greatest, start + MAX_DIGITS + 1); end > start; end--) {
		const allowed = ends.all === undefined ? end === ends.greatest : ends.all[end] === 1
		if (allowed && parseNumber(text, start, end) !== undefined) return end
	}
	return -1
}

function valueOf(kind: Kind, text: string, start: number, end: number): string | number {
	const value = kind === 'number' ? parseNumber(text, start, end) : undefined
	return value ?? text.slice(start, end)
}
