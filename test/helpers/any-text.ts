/** Texts of any code points, for properties. */
import fc from 'fast-check'

/** Surrogates, which are no characters by themselves. */
const SURROGATES = { first: 0xd800, count: 0x800 }

/** What `unit: 'binary'` of fast-check is, but that builds a table of 1.1 million characters for each arbitrary. */
export const CODE_POINT: fc.Arbitrary<string> = fc.integer({ min: 0, max: 0x10ffff - SURROGATES.count }).map(
	(n) => String.fromCodePoint(n < SURROGATES.first ? n : n + SURROGATES.count),
	(text) => {
		const point = typeof text === 'string' ? text.codePointAt(0) : undefined
		if (point === undefined || text !== String.fromCodePoint(point)) throw new Error('not one code point')
		if (point < SURROGATES.first) return point
		if (point < SURROGATES.first + SURROGATES.count) throw new Error('a surrogate')
		return point - SURROGATES.count
	},
)
