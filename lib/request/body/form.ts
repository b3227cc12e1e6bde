/** `application/x-www-form-urlencoded`, in bodies and in queries, decoded strictly. */
import type { Buffer } from 'node:buffer'
import { RestError } from '../../base/error.ts'
import { Fields, RESERVED_NAME, reservedName } from './fields.ts'
import { decodeUtf8 } from './utf8.ts'

/** Most `name=value` pairs in a form or a query: what a person fills in or a program asks stays far below. */
export const MAX_PAIRS = 1_000

/**
 * The fields of a form body. Pairs are split as the URL standard does (§5.1): `+` is a space, `a` alone
 * is empty, empty pairs are skipped; but a wrong escape is refused. No bracket syntax: `a[]` is a name.
 *
 *     title=A+b%C3%A9&tag=x&tag=y   →   last: { title: 'A bé', tag: 'y' },  all('tag'): ['x', 'y']
 *
 * @throws RestError `bad_request` when an escape is malformed, or text is not UTF-8, or a field is named
 * `__proto__`; `content_too_large` for more than {@link MAX_PAIRS}
 */
export function decodeForm(bytes: Buffer): Fields {
	return decodePairs(decodeUtf8(bytes, 'The form'), FORM)
}

/**
 * The parameters of a query: the target's text after `?`, without it. Read as {@link decodeForm} does.
 *
 * @throws RestError `bad_request` as for a form; for characters that a URL can't hold; for more than
 * {@link MAX_PAIRS}
 */
export function decodeQuery(text: string): Fields {
	// node:http gives bytes beyond ASCII as Latin-1: `é` sent bare would arrive as two wrong characters.
	if (/[^ -~]/.test(text)) {
		throw new RestError(
			'bad_request',
			'The query has characters beyond ASCII, or controls: percent-encode them',
		)
	}
	return decodePairs(text, QUERY)
}

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
		if (end > start && ++count > MAX_PAIRS) throw tooMany(source)
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

function tooMany({ whole, tooMany }: Source): RestError {
	return new RestError(tooMany, `${whole} has more than ${MAX_PAIRS} pairs of name and value`)
}
