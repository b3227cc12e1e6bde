/** What a Content-Type says: its type and parameters, whether it is JSON, and that its charset is ours. */
import { RestError } from '../../base/error.ts'
import { parseParameters } from './parameters.ts'

/** A media type, `application/json; charset=utf-8`, taken apart. */
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
	const parameters =
		type === undefined ? undefined : parseParameters(header, type.length, unquote, mayBeEmpty(type))
	if (type !== undefined && parameters !== undefined) return { type: type.toLowerCase(), parameters }
	const right = 'type/subtype and parameters; name=value, each once'
	throw new RestError('unsupported_media_type', `${where} is malformed: it must be ${right}`)
}

/** Whether a type, in lower case, is JSON: `application/json` or `application/*+json` (RFC 6839 §3.1). */
export function isJsonType(type: string): boolean {
	return type === 'application/json' || JSON_SUFFIX.test(type)
}

/** Whether a header, well-formed or not, names a type that is JSON. */
export function namesJson(header: string | undefined): boolean {
	const type = TYPE.exec(header ?? '')?.[0]
	return type !== undefined && isJsonType(type.toLowerCase())
}

/**
 * Refuses a charset that is not UTF-8. Besides `utf-8` in any case: `utf8`, its common misspelling, and
 * `us-ascii`, which is part of it. No charset is UTF-8 too (RFC 8259 §8.1).
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

/** A bad boundary is the body's fault, not the type's: an empty one gets to where the others are refused. */
function mayBeEmpty(type: string): string | undefined {
	return type.toLowerCase() === 'multipart/form-data' ? 'boundary' : undefined
}

/** Two tokens (RFC 9110 §5.6.2). */
const TYPE = /^[!#$%&'*+.^`|~\w-]+\/[!#$%&'*+.^`|~\w-]+/
const JSON_SUFFIX = /^application\/[^+].*\+json$/
const CHARSET = /^(?:utf-?8|us-ascii)$/i

/** RFC 9110 §5.6.4: a backslash gives the next character, whatever it is. */
function unquote(raw: string): string {
	return raw.replace(/\\(.)/gs, '$1')
}
