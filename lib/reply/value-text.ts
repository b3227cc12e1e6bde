/**
 * Values as text: as JSON, or as plain text if the method has set another Content-Type. A value that JSON would lose (a
 * Map, a promise, a fetch Request) is refused with its path: a success with `{}` in it would hide the mistake.
 */
import { isThenable } from '../base/thenable.ts'
import type { HeaderLine } from '../exchange/exchange.ts'
import { isJsonType } from '../wire/json-type.ts'

/**
 * The JSON of a value.
 *
 * @param path the name of the value in errors: `data`
 * @throws TypeError for a value that JSON can't represent, or would turn into `{}`: `data.items[3].tags is a Map`
 */
export function jsonText(value: unknown, path: string): string {
	const text = stringify(value, path)
	if (text === undefined) throw new TypeError(`a ${typeof value} can't be sent: JSON has no such value`)
	return text
}

/** The JSON of an element of the list `data`; `null` for one that JSON can't represent, as in arrays. */
export function recordText(record: unknown, at: number): string {
	return stringify(record, 'data', at) ?? 'null'
}

function stringify(value: unknown, path: string, at?: number): string | undefined {
	let text: string | undefined
	try {
		text = JSON.stringify(value)
	} catch (error) {
		// V8's error for a BigInt doesn't say where it is.
		refuseLost(value, path, at)
		throw error
	}
	// What JSON loses becomes {}, or the members of a system's or a driver's error. Only such texts are checked.
	if (text?.includes('{}') || (text?.includes('code":') && ERROR_MEMBER.test(text)))
		refuseLost(value, path, at)
	return text
}

/** Members of errors of the system, MariaDB (`errno`) and PostgreSQL (`routine`), and codes of Node, undici and SQLite. */
const ERROR_MEMBER = /"(?:errno|routine)":|"code":"(?:ERR_|UND_ERR|SQLITE_)/

/** Refuses an Error as a value: JSON would write the Error's own fields, but not its message. */
export function refuseError(value: object, path: string): void {
	if (value instanceof Error && !('toJSON' in value)) throw lossError(path, 'an Error', 'throw it')
}

/** An object whose members are being visited, and its place in its parent: `.items`, `[3]`. */
interface Ancestor {
	readonly holder: object
	readonly step: string
}

/**
 * Refuses a value if JSON loses any part of it. Visits the parts as `JSON.stringify` does, after `toJSON`; all of them, because
 * a promise within that nobody awaits would end the process when it is rejected.
 */
function refuseLost(value: unknown, path: string, at: number | undefined): void {
	const root = at === undefined ? path : `${path}[${at}]`
	const ancestors: Ancestor[] = []
	let refusal: TypeError | undefined
	JSON.stringify(value, function (this: object, key: string, inner: unknown) {
		while (ancestors.length > 0 && ancestors.at(-1)?.holder !== this) ancestors.pop()
		// The first holder is JSON.stringify's own, with the value as its only member.
		const step = ancestors.length === 0 ? root : stepTo(this, key)
		const [kind, advice] = lostKind(inner) ?? []
		if (kind !== undefined && advice !== undefined) {
			refusal ??= lossError(ancestors.map((one) => one.step).join('') + step, kind, advice)
			// Not its own `then`, by which a query builder would run its query.
			if (inner instanceof Promise) void Promise.prototype.then.call(inner, undefined, () => {})
			return undefined
		}
		if (typeof inner === 'object' && inner !== null) ancestors.push({ holder: inner, step })
		return inner
	})
	if (refusal !== undefined) throw refusal
}

function stepTo(holder: object, key: string): string {
	if (Array.isArray(holder)) return `[${key}]`
	return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

function lossError(where: string, kind: string, advice: string): TypeError {
	return new TypeError(`${where} is ${kind}, which JSON can't hold: ${advice}`)
}

/** The kind of a value that JSON would lose, after `toJSON`, with advice. */
function lostKind(value: unknown): readonly [kind: string, advice: string] | undefined {
	if (typeof value === 'bigint') return ['a BigInt', 'convert it to text, String(n)']
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
	if (isThenable(value)) return ['a promise', 'await it']
	if (value instanceof Error && !('toJSON' in value)) return ['an Error', ADVICE]
	if (Symbol.iterator in value && 'next' in value) return ['an iterator', 'make an array of it, [...it]']
	if (Object.keys(value).length > 0 || isBoxed(value)) return undefined
	const name = hiddenKind(value)
	return name === undefined ? undefined : [`${/^[AEIOU]/i.test(name) ? 'an' : 'a'} ${name}`, ADVICE]
}

const ADVICE = 'return a plain object, an array, text, bytes or a stream instead'

function isBoxed(value: object): boolean {
	return value instanceof String || value instanceof Number || value instanceof Boolean
}

/** The class of an object whose content JSON doesn't see; `undefined` for one that is just empty. */
function hiddenKind(value: object): string | undefined {
	// Map, Error, RegExp, and web classes: FormData, Headers, Request, URLSearchParams.
	const [, tag] = /^\[object (.*)\]$/.exec(Object.prototype.toString.call(value)) ?? []
	if (tag !== 'Object' && tag !== 'Arguments') return tag
	// A class with getters, whose values JSON doesn't see. (A plain object's prototype has none above it.)
	for (let proto = prototypeOf(value); proto !== null; proto = prototypeOf(proto)) {
		if (prototypeOf(proto) === null) return undefined
		const slots = Object.values(Object.getOwnPropertyDescriptors(proto))
		if (slots.some(({ get }) => get !== undefined)) return value.constructor.name
	}
	return undefined
}

function prototypeOf(value: object): object | null {
	return Object.getPrototypeOf(value) as object | null
}

/** The Content-Type set by the method, if it is a single one other than JSON. */
export function otherTypeOf(lines: ReadonlyMap<string, HeaderLine> | undefined): string | undefined {
	const value = lines?.get('content-type')?.[1]
	const type = typeof value === 'object' && value.length === 1 ? value[0] : value
	return typeof type !== 'string' || isJsonType(type) ? undefined : type
}

/**
 * A value as text under a Content-Type other than JSON: '' for null, the texts of an array joined; `undefined` for an
 * object.
 *
 * @throws TypeError for an array of anything but texts
 */
export function textUnderType(value: unknown, type: string): string | undefined {
	if (value === undefined || value === null) return ''
	if (Array.isArray(value)) return value.map((one, at) => pieceUnderType(one, at, type)).join('')
	return typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol'
		? undefined
		: String(value)
}

function pieceUnderType(piece: unknown, at: number, type: string): string {
	if (typeof piece === 'string') return piece
	throw new TypeError(`data[${at}] is ${kindOf(piece)}, under Content-Type ${type}: return texts`)
}

/** One item of a stream of texts. @throws TypeError if it is neither text nor bytes */
export function pieceOf(piece: unknown, at: number, type: string): string | Uint8Array {
	return piece instanceof Uint8Array ? piece : pieceUnderType(piece, at, type)
}

/** Refuses an object: its JSON would be misread under another Content-Type. @throws TypeError always */
export function refuseUnderType(value: unknown, type: string): never {
	throw new TypeError(
		`data is ${kindOf(value)}, under Content-Type ${type}: return text, bytes, a stream or an iterable of texts, or send JSON with this.respond(…)`,
	)
}

function kindOf(value: unknown): string {
	if (value === null || value === undefined) return String(value)
	if (typeof value !== 'object') return `a ${typeof value}`
	return Array.isArray(value) ? 'an array' : `an object (${value.constructor?.name ?? 'without prototype'})`
}
