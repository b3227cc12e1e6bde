/** Mistakes in a spec: its author's, so a TypeError, at the mount or at the first call. */

/** Throws the TypeError for a mistake at `where`: the path of a field, empty for the whole. */
export function refuse(where: string, text: string): never {
	throw new TypeError(where === '' ? text : `${where}: ${text}`)
}

/** `value` in a few characters, for a TypeError. What is in an object isn't said. */
export function shown(value: unknown): string {
	if (typeof value === 'string') return `'${value.slice(0, 40)}'`
	if (Array.isArray(value)) return 'an array'
	if (value instanceof RegExp) return `the RegExp ${value}`
	if (typeof value === 'object' && value !== null) return 'an object'
	return typeof value === 'function' ? 'a function' : String(value)
}
