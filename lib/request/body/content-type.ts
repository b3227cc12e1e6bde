/**
 * Content types of bodies and parts: parses the media type and its parameters, recognizes JSON, requires UTF-8, and decodes
 * it strictly: invalid bytes are refused, never replaced by U+FFFD.
 */
import { Buffer, constants, isAscii, isUtf8 } from 'node:buffer'
import { RestError } from '../../base/error.ts'

/** A parsed media type: `application/json; charset=utf-8`. */
export interface MediaType {
	/** `type/subtype` in lower case. */
	readonly type: string
	/** Values by name; names in lower case, values as sent, without the quotes and escapes of quoted ones. */
	readonly parameters: ReadonlyMap<string, string>
}

/**
 * Reads a media type (RFC 9110 §8.3.1). `where` names the header in the message.
 *
 *     Text/HTML;Charset="utf-8"   →   type: 'text/html', parameters: Map { 'charset' => 'utf-8' }
 *
 * @throws RestError `unsupported_media_type` when it is malformed or names a parameter twice
 */
export function parseMediaType(header: string, where = 'Content-Type'): MediaType {
	if (header === 'application/json') return { type: header, parameters: new Map() }
	const type = TYPE.exec(header)?.[0]
	// An empty boundary is refused later, like other malformed boundaries, as an error of the body.
	const mayBeEmpty = type?.toLowerCase() === 'multipart/form-data' ? 'boundary' : undefined
	const parameters =
		type === undefined ? undefined : parseParameters(header, type.length, unquote, mayBeEmpty)
	if (type !== undefined && parameters !== undefined) return { type: type.toLowerCase(), parameters }
	const expected = 'type/subtype and parameters; name=value, each once'
	throw new RestError('unsupported_media_type', `${where} is malformed: it must be ${expected}`)
}

/** Whether a type, in lower case, is JSON: `application/json` or `application/*+json` (RFC 6839 §3.1). */
export function isJsonBodyType(type: string): boolean {
	return type === 'application/json' || JSON_SUFFIX.test(type)
}

/** Whether a header, well-formed or not, names a type that is JSON. */
export function namesJson(header: string | undefined): boolean {
	const type = TYPE.exec(header ?? '')?.[0]
	return type !== undefined && isJsonBodyType(type.toLowerCase())
}

/**
 * Refuses a charset other than UTF-8. Accepts `utf-8` in any case, `utf8`, its common misspelling, `us-ascii`, its
 * subset, and no charset, which means UTF-8 (RFC 8259 §8.1).
 *
 * @throws RestError `unsupported_media_type`
 */
export function requireUtf8(media: MediaType, where = 'Content-Type'): void {
	const charset = media.parameters.get('charset')
	if (charset === undefined || CHARSET.test(charset)) return
	throw new RestError(
		'unsupported_media_type',
		`${where} has a charset that is not supported: it must be utf-8, or left out`,
	)
}

/** Two tokens (RFC 9110 §5.6.2). */
const TYPE = /^[!#$%&'*+.^`|~\w-]+\/[!#$%&'*+.^`|~\w-]+/
const JSON_SUFFIX = /^application\/[^+].*\+json$/
const CHARSET = /^(?:utf-?8|us-ascii)$/i

/** RFC 9110 §5.6.4: a backslash followed by any character stands for that character. */
function unquote(raw: string): string {
	return raw.replace(/\\(.)/gs, '$1')
}

/**
 * Parses the `; name=value` list of Content-Type (RFC 9110 §5.6.6) and Content-Disposition (RFC 2183 §2), from `at` to
 * the end. Names become lower case; quoted values are passed to `unquote`, because the two headers differ in their
 * escapes. White space around `;` and empty parameters are allowed, white space around `=` is not.
 *
 *     parseParameters('text/plain; charset=utf-8', 10, unquote)   // Map { 'charset' => 'utf-8' }
 *
 * `mayBeEmpty` names a parameter that may have nothing after its `=`, though the grammar requires a value: it is then ''.
 *
 * Linear in the length. `undefined` when the list is malformed, or names a parameter twice: two readers could then see
 * different boundaries in one body.
 */
export function parseParameters(
	text: string,
	at: number,
	unquote: (raw: string) => string,
	mayBeEmpty?: string,
): Map<string, string> | undefined {
	const found = new Map<string, string>()
	if (CONTROL.test(text)) return undefined
	// Created per call, because a sticky expression keeps its position between calls. Tokens as in RFC 9110 §5.6.2. No
	// text matches in two ways, so a match is linear.
	const parameter =
		/[\t ]*;[\t ]*(?:([!#$%&'*+.^`|~\w-]+)=(?:([!#$%&'*+.^`|~\w-]+)|"((?:[^"\\]|\\.)*)")?)?[\t ]*/sy
	parameter.lastIndex = at
	while (parameter.lastIndex < text.length) {
		const match = parameter.exec(text)
		if (match === null) return undefined
		const [, name, token, quoted] = match
		if (name === undefined) continue
		const key = name.toLowerCase()
		if (found.has(key)) return undefined
		if (token === undefined && quoted === undefined && key !== mayBeEmpty) return undefined
		found.set(key, token ?? unquote(quoted ?? ''))
	}
	return found
}

/** Control characters other than the tab: not even a quoted value may contain them (RFC 9110 §5.6.4). */
const CONTROL = /[\0-\x08\n-\x1f\x7f]/

/**
 * Longer texts are first checked for ASCII, which they usually are: checking and copying is faster than decoding UTF-8.
 */
const MAX_SHORT = 1_024
const REPLACEMENT = '\uFFFD'

/**
 * Decodes UTF-8; a byte order mark is kept. `what` begins the message: `The body`.
 *
 * @throws RestError `bad_request` when they are not UTF-8, with the offset of the first wrong byte, from 0;
 * `content_too_large` when they are longer than a string can be (512 MiB in Node 20)
 */
export function decodeUtf8(bytes: Buffer, what: string): string {
	if (bytes.length > constants.MAX_STRING_LENGTH) {
		throw new RestError('content_too_large', `${what} is longer than text can be`)
	}
	if (bytes.length > MAX_SHORT && isAscii(bytes)) return bytes.toString('latin1')
	const text = bytes.toString()
	// Invalid bytes decode to U+FFFD: searching the text for it is cheaper than checking the bytes.
	if (text.indexOf(REPLACEMENT) === -1 || isUtf8(bytes)) return text
	throw new RestError('bad_request', `${what} is not UTF-8 at byte ${firstInvalidByte(bytes, text)}`)
}

/** The offset of the first invalid byte, where `text` has the first U+FFFD that the client didn't send itself. */
function firstInvalidByte(bytes: Buffer, text: string): number {
	let offset = 0
	let from = 0
	for (;;) {
		const at = text.indexOf(REPLACEMENT, from)
		offset += Buffer.byteLength(text.slice(from, at))
		const sent = bytes[offset] === 0xef && bytes[offset + 1] === 0xbf && bytes[offset + 2] === 0xbd
		if (!sent) return offset
		offset += 3
		from = at + 1
	}
}
