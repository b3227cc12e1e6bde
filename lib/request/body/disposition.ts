/** A part's Content-Disposition: the field's name, and the file's, as real clients write them. */
import { RestError } from '../../base/error.ts'
import { RESERVED_NAME, reservedName } from './fields.ts'
import { parseParameters } from './parameters.ts'

/** What a part is called. */
export interface Disposition {
	/** The field's name; may be empty. */
	readonly name: string
	/** The file's name as sent: data, never a path to write to. `undefined` where the part is text. */
	readonly filename: string | undefined
}

/**
 * Reads `form-data; name="photo"; filename="cat.png"` (RFC 7578 §4.2). Names may be tokens, which .NET
 * sends, or quoted. In quotes, `%22`, `%0D` and `%0A` are the characters that browsers write so (HTML
 * standard, multipart/form-data encoding algorithm), and `\"` and `\\` those that others escape; any
 * other backslash and percent sign stands for itself, so `C:\a.txt` and `50%.txt` arrive whole.
 * `filename*` (RFC 8187) wins over `filename` (RFC 6266 §4.3). `where` begins messages: `Part 3`.
 *
 * @throws RestError `bad_request` when it is malformed, isn't `form-data`, has no name, or `__proto__` as
 * its name, or when `filename*` is not in UTF-8
 */
export function parseDisposition(header: string, where: string): Disposition {
	const type = TYPE.exec(header)?.[0]
	if (type?.toLowerCase() !== 'form-data') throw refused(where, 'must be form-data')
	const parameters = parseParameters(header, type.length, unquote)
	if (parameters === undefined) throw refused(where, 'is malformed: parameters are ; name="value", each once')
	const name = parameters.get('name')
	if (name === undefined) throw refused(where, 'has no name')
	if (name === RESERVED_NAME) throw reservedName(where)
	const extended = parameters.get('filename*')
	const filename = extended === undefined ? parameters.get('filename') : decodeExtended(extended, where)
	return { name, filename }
}

const TYPE = /^[\w-]+/

function refused(where: string, what: string): RestError {
	return new RestError('bad_request', `The Content-Disposition of ${where.toLowerCase()} ${what}`)
}

/** In one pass: `\%22` is a backslash and a quote, which two passes would take for an escaped quote. */
function unquote(raw: string): string {
	return raw.replace(/\\(["\\])|%(22|0D|0A)/g, (_, escaped: string | undefined, hex: string) => {
		return escaped ?? String.fromCharCode(Number.parseInt(hex, 16))
	})
}

/** RFC 8187 §3.2.1: `UTF-8'en'na%C3%AFve.txt`. */
function decodeExtended(value: string, where: string): string {
	const encoded = /^utf-8'[^']*'([^']*)$/i.exec(value)?.[1]
	try {
		if (encoded !== undefined) return decodeURIComponent(encoded)
	} catch {
		// Falls through: the message below says what is right.
	}
	throw refused(where, "has a wrong filename*: it must be UTF-8'' and percent-encoded text")
}
