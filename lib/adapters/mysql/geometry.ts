/**
 * Well-known text of geometries. The servers make NULL of what they can't read, and pass over what stands behind it:
 * so what is no geometry is refused before it is sent. Used by `type-sql.ts`.
 */

const SHAPES = [
	'point',
	'linestring',
	'polygon',
	'multipoint',
	'multilinestring',
	'multipolygon',
	'geometrycollection',
]

/** Types of columns. */
export const GEOMETRIES: ReadonlySet<string> = new Set([...SHAPES, 'geometry', 'geomcollection'])

const NAMES: ReadonlySet<string> = new Set([...SHAPES, 'empty'])

const TOKEN = /\s*(?:([A-Za-z]+)|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))|([(),]))\s*/y

/** Whether a text is made of names, pairs of numbers and parentheses that close where it ends. */
export function isWellKnownText(text: string): boolean {
	const token = new RegExp(TOKEN)
	let depth = 0
	let numbers = 0
	while (token.lastIndex < text.length) {
		const isEnd = depth === 0 && token.lastIndex > 0
		const [, name, number, mark] = token.exec(text) ?? []
		if (name !== undefined) {
			if (!NAMES.has(name.toLowerCase()) || (isEnd && name.toLowerCase() !== 'empty')) return false
		} else if (number !== undefined) {
			if (depth === 0 || ++numbers > 2 || !Number.isFinite(Number(number))) return false
		} else if (mark === '(') {
			// Only once: behind the first name.
			if (depth === 0 && text.slice(0, token.lastIndex).includes(')')) return false
			depth++
		} else if (mark !== undefined) {
			if (numbers === 1 || depth === 0) return false
			numbers = 0
			if (mark === ')') depth--
		} else return false
	}
	return depth === 0 && text.trim() !== ''
}
