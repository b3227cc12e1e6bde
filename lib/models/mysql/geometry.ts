/**
 * Well-known text of geometries. The servers make NULL of what they can't read, and pass over what stands behind it:
 * so what is no geometry is refused before it is sent. Used by `types.ts`.
 */

const SHAPES = [
	'point',
	'linestring',
	'polygon',
	'multipoint',
	'multilinestring',
	'multipolygon',
	'geometrycollection',
	'geomcollection',
]

/** Types of columns. */
export const GEOMETRIES: ReadonlySet<string> = new Set([...SHAPES, 'geometry'])

const NAMES: ReadonlySet<string> = new Set([...SHAPES, 'empty'])

const TOKEN = /\s*(?:([A-Za-z]+)|([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))|([(),]))\s*/y

/** Whether a text is a name, and EMPTY or names, pairs of numbers and parentheses that close where it ends. */
export function isWellKnownText(text: string): boolean {
	const token = new RegExp(TOKEN)
	let depth = 0
	let numbers = 0
	let isNamed = false
	let isOver = false
	while (token.lastIndex < text.length) {
		if (isOver) return false
		const [, name, number, mark] = token.exec(text) ?? []
		if (name !== undefined) {
			const isEmpty = name.toLowerCase() === 'empty'
			if (!NAMES.has(name.toLowerCase()) || (depth === 0 && isNamed !== isEmpty)) return false
			isNamed = true
			isOver = depth === 0 && isEmpty
		} else if (number !== undefined) {
			if (depth === 0 || ++numbers > 2 || !Number.isFinite(Number(number))) return false
		} else if (mark === '(') {
			if (!isNamed) return false
			depth++
		} else if (mark !== undefined) {
			if (numbers === 1 || depth === 0) return false
			numbers = 0
			if (mark === ')') depth--
			isOver = depth === 0
		} else return false
	}
	return isOver
}
