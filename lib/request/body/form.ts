/** Decodes forms (`application/x-www-form-urlencoded`) and queries, strictly, into `Fields`, which multipart bodies use too. */
import type { Buffer } from 'node:buffer'
import { RestError } from '../../base/error.ts'
import { decodeUtf8 } from './content-type.ts'

/**
 * Names with text values; a name may be repeated.
 *
 *     a=1&b=2&a=3   →   last: { a: '3', b: '2' },  all('a'): ['1', '3'],  all('c'): []
 */
export class Fields {
	/** Without prototype, so that a name can't hit an inherited property. */
	readonly #last: Record<string, string> = Object.create(null)
	/** Values of repeated names, which few forms have. */
	#repeated: Map<string, string[]> | undefined

	/** The last value of each name. */
	get last(): Readonly<Record<string, string>> {
		return this.#last
	}

	/** All values of a name, in order. */
	all(name: string): string[] {
		const repeated = this.#repeated?.get(name)
		if (repeated !== undefined) return [...repeated]
		const only = this.#last[name]
		return only === undefined ? [] : [only]
	}

	/** Adds a value. Callers refuse {@link RESERVED_NAME} first. */
	add(name: string, value: string): void {
		const earlier = this.#last[name]
		if (earlier !== undefined) this.#repeat(name, earlier, value)
		this.#last[name] = value
	}

	/** The value of each name, or a list of them if the name is repeated. */
	lists(): Readonly<Record<string, string | readonly string[]>> {
		if (this.#repeated === undefined) return this.#last
		return Object.assign(Object.create(null), this.#last, Object.fromEntries(this.#repeated))
	}

	#repeat(name: string, earlier: string, value: string): void {
		this.#repeated ??= new Map()
		const values = this.#repeated.get(name)
		if (values === undefined) this.#repeated.set(name, [earlier, value])
		else values.push(value)
	}
}

/** The one name that is dangerous to copy: `target['__proto__'] = …` sets a prototype. */
export const RESERVED_NAME = '__proto__'

/** The error for {@link RESERVED_NAME}: `bad_request`. `where` begins its message: `Query parameter 3`. */
export function reservedName(where: string): RestError {
	return new RestError('bad_request', `${where} is named ${RESERVED_NAME}, which is reserved`)
}

/** Maximum number of `name=value` pairs in a form or a query; real ones have far fewer. */
export const MAX_PAIRS = 1_000

/**
 * The fields of a form body. Pairs are split as the URL standard does (§5.1): `+` is a space, `a` alone is empty, empty
 * pairs are skipped; but a malformed escape is refused. No bracket syntax: `a[]` is a name.
 *
 *     title=A+b%C3%A9&tag=x&tag=y   →   last: { title: 'A bé', tag: 'y' },  all('tag'): ['x', 'y']
 *
 * @throws RestError `bad_request` when an escape is malformed, or text is not UTF-8, or a field is named `__proto__`;
 *   `content_too_large` for more than {@link MAX_PAIRS}
 */
export function decodeForm(bytes: Buffer): Fields {
	return decodePairs(decodeUtf8(bytes, 'The form'), FORM)
}

/**
 * The parameters of a query, the text after `?`, decoded as by {@link decodeForm}.
 *
 * @throws RestError `bad_request` as for a form; for characters that a URL can't hold; for more than
 * {@link MAX_PAIRS}
 */
export function decodeQuery(text: string): Fields {
	// node:http reads bytes beyond ASCII as Latin-1: an unescaped `é` would become two wrong characters.
	if (/[^ -~]/.test(text)) {
		throw new RestError(
			'bad_request',
			'The query has characters beyond ASCII, or controls: percent-encode them',
		)
	}
	return decodePairs(text, QUERY)
}

/** How error messages name the source and one of its fields; and the error code when there are too many. */
interface Source {
	readonly whole: string
	readonly one: string
	readonly tooMany: 'bad_request' | 'content_too_large'
}

const FORM: Source = { whole: 'The form', one: 'Form field', tooMany: 'content_too_large' }
const QUERY: Source = { whole: 'The query', one: 'Query parameter', tooMany: 'bad_request' }

function decodePairs(text: string, source: Source): Fields {
	const fields = new Fields()
	let count = 0
	for (let start = 0; start < text.length; ) {
		const next = text.indexOf('&', start)
		const end = next === -1 ? text.length : next
		if (end > start && ++count > MAX_PAIRS)
			throw new RestError(
				source.tooMany,
				`${source.whole} has more than ${MAX_PAIRS} pairs of name and value`,
			)
		if (end > start) addPair(fields, text.slice(start, end), source, count)
		start = end + 1
	}
	return fields
}

/** `number` counts pairs from 1, for messages. */
function addPair(fields: Fields, pair: string, source: Source, number: number): void {
	const equals = pair.indexOf('=')
	const name = decodeText(equals === -1 ? pair : pair.slice(0, equals), source, number)
	if (name === RESERVED_NAME) throw reservedName(`${source.one} ${number}`)
	fields.add(name, equals === -1 ? '' : decodeText(pair.slice(equals + 1), source, number))
}

function decodeText(text: string, source: Source, number: number): string {
	const spaced = text.indexOf('+') === -1 ? text : text.replaceAll('+', ' ')
	if (spaced.indexOf('%') === -1) return spaced
	try {
		return decodeURIComponent(spaced)
	} catch (cause) {
		const malformed = /%(?![\dA-Fa-f]{2})/.test(spaced)
		const what = malformed ? 'a % without two hexadecimal digits' : 'escapes that are not UTF-8'
		const hint = malformed ? ': write a percent sign as %25' : ''
		throw new RestError('bad_request', `${source.one} ${number} has ${what}${hint}`, { cause })
	}
}
