/** Geometries as well-known text: `geometrySql`, and a validator of what clients send. Used by `json.ts`. */
import type { Value } from '../../model.ts'
import { ModelError } from '../../model-error.ts'
import type { Column } from '../../sql/table.ts'
import type { TypeDetails } from '../types.ts'

interface GeometrySql {
	exact(ref: string): string
	readonly placeholder: string
	placeholderOf(value: Value): string | undefined
	bind(value: Exclude<Value, null>): string
}

/** The server converts malformed text to NULL; `coalesce` replaces that by the empty text, which is an error. */
export function geometrySql({ name }: Column, { srid }: TypeDetails): GeometrySql {
	return {
		exact: (ref) => `st_astext(${ref})`,
		placeholder: `coalesce(st_geomfromtext(?${srid === 0 ? '' : `,${srid}`}),'')`,
		placeholderOf: (value) => (value === null ? '?' : undefined),
		bind: (value) => {
			const text = String(value)
			if (isWellKnownText(text)) return text
			throw new ModelError('invalid', [name])
		},
	}
}

/*
 * Well-known text of geometries. The servers convert malformed text to NULL, and ignore what follows a geometry, so
 * both are rejected before they are sent.
 */
const SHAPES = [
	...'point linestring polygon multipoint multilinestring multipolygon'.split(' '),
	...['geometrycollection', 'geomcollection'],
]

/** Column types of geometries. */
export const GEOMETRIES: ReadonlySet<string> = new Set([...SHAPES, 'geometry'])

const NAMES: ReadonlySet<string> = new Set([...SHAPES, 'empty'])

const TOKEN = /\s*(?:([A-Za-z]+)|([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))|([(),]))\s*/y

/** Whether a text is a name, followed by EMPTY, or by names and pairs of numbers in balanced parentheses. */
function isWellKnownText(text: string): boolean {
	const token = new RegExp(TOKEN)
	let depth = 0
	let numbers = 0
	let isNamed = false
	let isComplete = false
	while (token.lastIndex < text.length) {
		if (isComplete) return false
		const [, name, number, mark] = token.exec(text) ?? []
		if (name !== undefined) {
			const isEmpty = name.toLowerCase() === 'empty'
			if (!NAMES.has(name.toLowerCase()) || (depth === 0 && isNamed !== isEmpty)) return false
			isNamed = true
			isComplete = depth === 0 && isEmpty
		} else if (number !== undefined) {
			if (depth === 0 || ++numbers > 2 || !Number.isFinite(Number(number))) return false
		} else if (mark === '(') {
			if (!isNamed) return false
			depth++
		} else if (mark !== undefined) {
			if (numbers === 1 || depth === 0) return false
			numbers = 0
			if (mark === ')') depth--
			isComplete = depth === 0
		} else return false
	}
	return isComplete
}
