/** How deep a described schema goes. Schemas of others may be nested without end, and each level costs stack. */
import { IN_LIST, IN_NAMES, IN_ONE, type JsonSchema } from './json-schema.ts'

/** Levels of schemas that are described: what is nested deeper may be any value. */
export const LEVELS = 100

/** A schema whose levels below `LEVELS` are `{}`; keywords whose values are nested deeper, such as `default`, are left out. */
export function withinLevels(schema: JsonSchema, levels = LEVELS): JsonSchema {
	if (levels === 0) return {}
	const inner = (value: unknown) => (isSchema(value) ? withinLevels(value, levels - 1) : value)
	const entries = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
		if (IN_ONE.has(keyword) && isSchema(value)) return [[keyword, inner(value)]]
		if (IN_LIST.has(keyword) && Array.isArray(value)) return [[keyword, value.map(inner)]]
		if ((IN_NAMES.has(keyword) || keyword === '$defs') && isSchema(value)) {
			const named = Object.entries(value).map(([name, one]) => [name, inner(one)])
			return [[keyword, Object.fromEntries(named)]]
		}
		return isWithinLevels(value) ? [[keyword, value]] : []
	})
	return Object.fromEntries(entries)
}

/** Whether a value of JSON has at most so many levels. */
export function isWithinLevels(value: unknown, levels = LEVELS): boolean {
	if (typeof value !== 'object' || value === null) return true
	return levels > 0 && Object.values(value).every((inner) => isWithinLevels(inner, levels - 1))
}

export function isSchema(value: unknown): value is JsonSchema {
	return typeof value === 'object' && value !== null && !Array.isArray(value)
}
