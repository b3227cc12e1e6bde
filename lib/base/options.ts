/**
 * Checks options and declarations: names, types and ranges. For constructors and mounts, not for requests: the messages
 * are for programmers, and show the value.
 *
 *     const { max, clock } = optionsOf('MemoryCache', options, {
 *       max: wholeNumber({ from: 1, to: 8_000_000 }),
 *       clock: or(functionLike<Clock>('() => milliseconds'), steadyClock),
 *     })
 *     // TypeError: MemoryCache has no option maxx: did you mean max?
 *     // RangeError: MemoryCache: max must be a whole number from 1 to 8000000, got 0
 */

/** Checks and returns a value; `where` names it in errors. */
export type Reader<T> = (where: string, value: unknown) => T

/** A reader for each option of the interface `O`; use with `satisfies`. */
export type Readers<O = Readonly<Record<string, unknown>>> = { readonly [K in keyof O]-?: Reader<unknown> }

/** The values that the readers return. */
export type Values<R extends Readers> = { readonly [K in keyof R]: ReturnType<R[K]> }

/**
 * Reads the options of a class or a function; a reader gets `undefined` for a missing option.
 *
 * @param owner the class or function, as the user types it: `createServer`
 * @throws TypeError for an unknown option, and what the readers throw
 */
export function optionsOf<O extends object, R extends Readers<O>>(
	owner: string,
	options: O,
	readers: R,
): Values<R> {
	if (!isOptions(options)) throw refusal(`the options of ${owner}`, 'an object', options)
	return valuesOf(owner, `${owner}: `, options, readers)
}

/** Reads an option that is an object of options: `health` of `createServer`. */
export function nested<R extends Readers>(
	example: string,
	readers: R,
	what = 'an object',
): Reader<Values<R>> {
	return (where, value) => {
		if (!isOptions(value)) throw refusal(where, `${what}: ${example}`, value)
		return valuesOf(where, `${where}.`, value, readers)
	}
}

/**
 * Reads an option that turns a feature on: `true`, or an object of options. The feature is off for `false`, and by
 * default.
 */
export function switchable<R extends Readers>(example: string, readers: R): Reader<Values<R> | undefined> {
	const read = nested(example, readers, 'true, false or an object')
	return (where, value) =>
		value === undefined || value === false ? undefined : read(where, value === true ? {} : value)
}

/** Lists, Maps and promises are refused: they have no options as properties, and would be ignored silently. */
function isOptions(value: unknown): value is object {
	return (
		typeof value === 'object' && value !== null && !(Symbol.iterator in value || value instanceof Promise)
	)
}

function valuesOf<R extends Readers>(owner: string, prefix: string, options: object, readers: R): Values<R> {
	for (const name of Object.keys(options)) {
		if (Object.hasOwn(readers, name)) continue
		throw new TypeError(`${owner} has no option ${name}${meantBy(name, Object.keys(readers))}`)
	}
	// A loop, which is fast, because an authenticator may be created per request.
	const values: Record<string, unknown> = {}
	for (const name in readers) values[name] = readers[name]?.(prefix + name, Reflect.get(options, name))
	return values as Values<R> // one value for each reader
}

/** The hint for an unknown option. Times have their unit in the name: without it, milliseconds are often meant. */
function meantBy(name: string, names: readonly string[]): string {
	const seconds = `${name}Seconds`
	if (names.includes(seconds)) return `: it is ${seconds}, in seconds (30 for 30_000 ms)`
	const near = nearest(name, names)
	const nearSeconds = nearest(seconds, names)
	return near.startsWith(';') && nearSeconds.startsWith(':') ? nearSeconds : near
}

export function optional<T>(read: Reader<T>): Reader<T | undefined> {
	return (where, value) => (value === undefined ? undefined : read(where, value))
}

export function or<T, D extends T>(read: Reader<T>, fallback: D): Reader<T> {
	return (where, value) => (value === undefined ? fallback : read(where, value))
}

/** Reads an option that is checked where it is used. */
export function unchecked<T>(_where: string, value: unknown): T {
	return value as T // its user checks it
}

/** Reads values that pass `isValid`; the TypeError for others says that the value must be `what`. */
export function such<T>(what: string, isValid: (value: unknown) => boolean): Reader<T> {
	return (where, value) => {
		if (isValid(value)) return value as T // as `isValid` says
		throw refusal(where, what, value)
	}
}

export const flag: Reader<boolean> = such('true or false', (value) => typeof value === 'boolean')

export const text: Reader<string> = such('a string', (value) => typeof value === 'string')

/** @param shape its signature, for the message: `(view) => …` */
export function functionLike<F>(shape: string): Reader<F> {
	return such(`a function, ${shape}`, (value) => typeof value === 'function')
}

export function oneOf<const T extends string>(...all: readonly T[]): Reader<T> {
	const quoted = all.map((one) => `'${one}'`)
	const what = quoted.length === 1 ? quoted.join() : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
	return such(what, (value) => all.some((one) => one === value))
}

/** A list whose entries are read by `read`; not empty, unless `least` is 0. */
export function listOf<T>(what: string, read: Reader<T>, least: 0 | 1 = 1): Reader<readonly T[]> {
	return (where, value) => {
		if (!Array.isArray(value) || value.length < least) throw refusal(where, what, value)
		return Array.from(value, (one, at) => read(`${where}[${at}]`, one))
	}
}

/** An implementation of an interface, checked by its methods. */
export function withMethods<T>(...methods: readonly string[]): Reader<T> {
	const what = methods.length === 1 ? 'a method' : 'the methods'
	return (where, value) => {
		const missing = methods.filter((name) => typeof Reflect.get(Object(value), name) !== 'function')
		if (missing.length === 0) return value as T // it has the methods
		const lacks = methods.length === 1 ? '' : `; it lacks ${missing.join(', ')}`
		throw new TypeError(`${where} must have ${what} ${methods.join(', ')}${lacks}`)
	}
}

/** Whether an object of the user, such as a client or a pool, has these methods. */
export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
	return names.every((name) => typeof Reflect.get(Object(value), name) === 'function')
}

/** A range of numbers: `{ from: 1, to: 100, unit: 'bytes' }`. */
export interface Range {
	readonly from?: number
	/** Exclusive lower bound, instead of `from`. */
	readonly above?: number
	/** @default none */
	readonly to?: number
	readonly unit?: string
	/** Whether `Infinity` may be given. @default false */
	readonly orInfinity?: boolean
}

/** Reads a number. @throws RangeError for one out of the range, TypeError for any other value */
export function numberIn(
	range: Range,
	kind = 'a number',
	isKind: (value: number) => boolean = Number.isFinite,
): Reader<number> {
	const { from = 0, above, to = Number.POSITIVE_INFINITY, unit, orInfinity = false } = range
	const what = `${kind}${unit === undefined ? '' : ` of ${unit}`} ${boundsText(range)}${orInfinity ? ', or Infinity' : ''}`
	return (where, value) => {
		if (typeof value !== 'number') throw refusal(where, what, value)
		const isAboveMin = above === undefined ? value >= from : value > above
		if (isAboveMin && isKind(value) && value <= to) return value
		if (orInfinity && value === Number.POSITIVE_INFINITY) return value
		throw new RangeError(`${where} must be ${what}, got ${value}`)
	}
}

function boundsText({ from = 0, above, to }: Range): string {
	if (above !== undefined) return `above ${above}${to === undefined ? '' : ` and at most ${to}`}`
	return `from ${from}${to === undefined ? ' up' : ` to ${to}`}`
}

/** Reads a whole number. @throws RangeError for a number out of the range, TypeError for any other value */
export function wholeNumber(range: Range): Reader<number> {
	return numberIn(range, 'a whole number', Number.isSafeInteger)
}

/** `… must be …, got …`, for programmers; not for values that may be secret. */
export function refusal(where: string, what: string, value: unknown): TypeError {
	return new TypeError(`${where} must be ${what}, got ${shown(value)}`)
}

/** A value as shown in an error: `"abc"`, `5`, `null`, `an array`, `a function`. */
export function shown(value: unknown): string {
	if (typeof value === 'string') return JSON.stringify(value)
	if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
	if (value instanceof Promise) return 'a promise: write await before it'
	if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
	const isShort =
		typeof value !== 'object' || value === null || value instanceof RegExp || value instanceof Date
	return isShort ? String(value) : 'an object'
}

/**
 * The entries of a declaration. A Map, a Set, an array or a class instance is refused: without entries of its own it would
 * silently declare nothing, such as access rules that are never enforced.
 *
 * @throws TypeError
 */
export function entriesOf(what: string, declared: unknown, example: string): [string, unknown][] {
	if (isPlain(declared)) return Object.entries(declared)
	const promise = declared instanceof Promise ? `, got ${shown(declared)}` : ''
	throw new TypeError(`${what} must be a plain object: ${example}${promise}`)
}

/** Whether a value is an object literal, or has no prototype, like database rows. */
export function isPlain(value: unknown): value is object {
	if (typeof value !== 'object' || value === null) return false
	const prototype: object | null = Object.getPrototypeOf(value)
	if (prototype === null || prototype === Object.prototype) return true
	// Literals of another realm are plain too; an object that inherits from a dictionary is not: it would lose entries.
	return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty')
}

/** `: did you mean get_article?` for a mistyped name, else the list of names. */
export function nearest(name: string, names: Iterable<string>): string {
	const all = [...names]
	let best: string | undefined
	let smallest = Math.max(1, Math.floor(name.length / 3)) + 1
	for (const candidate of all) {
		const distance = editDistance(name, candidate)
		if (distance < smallest) [best, smallest] = [candidate, distance]
	}
	if (best !== undefined) return `: did you mean ${best}?`
	const more = all.length > MOST_NAMES ? ` and ${all.length - MOST_NAMES} more` : ''
	return all.length === 0 ? '' : `; there are ${all.slice(0, MOST_NAMES).join(', ')}${more}`
}

const MOST_NAMES = 50

/** The Damerau-Levenshtein distance, row by row: two letters in the wrong order are one mistake. */
function editDistance(a: string, b: string): number {
	let above: number[] = []
	let row = Array.from({ length: b.length + 1 }, (_, at) => at)
	for (let i = 1; i <= a.length; i++) {
		const next = [i]
		for (let j = 1; j <= b.length; j++) {
			const replaced = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
			const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
			const swapped = isSwapped ? at(above, j - 2) + 1 : replaced
			next.push(Math.min(at(row, j) + 1, at(next, j - 1) + 1, replaced, swapped))
		}
		above = row
		row = next
	}
	return at(row, b.length)
}

function at(row: readonly number[], index: number): number {
	return row[index] as number // the rows have an entry for each prefix of `b`
}
