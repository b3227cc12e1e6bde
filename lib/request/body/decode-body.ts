/**
 * Decodes a request's body according to its Content-Type; the decoder for each type is in a file next to this one. For
 * `request/body.ts` and `RestHandler`.
 */
import type { Buffer, File } from 'node:buffer'
import { RestError } from '../../base/error.ts'
import { isJsonBodyType, type MediaType, namesJson, parseMediaType, requireUtf8 } from './content-type.ts'
import { decodeForm, type Fields } from './form.ts'
import { decodeJson } from './json.ts'
import { decodeMultipart } from './multipart.ts'

/** A decoded body; `value` is `this.body`: for forms and multipart, the last text of each name. */
export type DecodedBody =
	| { readonly kind: 'empty'; readonly value: undefined }
	| { readonly kind: 'json'; readonly value: unknown }
	| { readonly kind: 'form'; readonly value: Readonly<Record<string, string>>; readonly fields: Fields }
	| {
			readonly kind: 'multipart'
			readonly value: Readonly<Record<string, string>>
			readonly fields: Fields
			/** Files by field; not in `value`. */
			readonly files: Readonly<Record<string, File[]>>
	  }

/** The headers that say how to read a body, as sent. */
interface BodyHeaders {
	readonly contentType: string | undefined
	readonly contentEncoding: string | undefined
	/** Media types that a PATCH may have, sent as `Accept-Patch` with a 415. */
	readonly acceptPatch?: string | undefined
}

/**
 * Decodes a body by its Content-Type: JSON (`application/json`, `application/*+json`), a form, or multipart. A body
 * without bytes is `empty` whatever the headers say.
 *
 * @throws RestError `unsupported_media_type` for a body without Content-Type or with any other, for a charset other
 *   than UTF-8, for any Content-Encoding but `identity`; and what {@link decodeJson}, {@link decodeForm} and
 *   {@link decodeMultipart} throw
 */
export function decodeBody(bytes: Buffer, headers: BodyHeaders): DecodedBody {
	if (bytes.length === 0) return { kind: 'empty', value: undefined }
	const { contentType, contentEncoding, acceptPatch } = headers
	if (contentEncoding !== undefined) checkEncoding(contentEncoding)
	// The most common header needs no parsing.
	if (contentType === 'application/json') return { kind: 'json', value: decodeJson(bytes) }
	if (contentType === undefined || contentType === '')
		throw unsupported('The body has no Content-Type', acceptPatch)
	return decodeAs(parseMediaType(contentType), bytes, acceptPatch)
}

/**
 * Decodes a body as JSON whatever its Content-Type says.
 *
 * @throws RestError what {@link decodeJson} throws; for an empty body the message depends on its Content-Type
 */
export function decodeAnyAsJson(bytes: Buffer, contentType: string | undefined): unknown {
	if ((bytes.length === 0 || bytes.equals(BYTE_ORDER_MARK)) && !namesJson(contentType)) {
		throw new RestError('bad_request', 'The body is empty: JSON was expected')
	}
	return decodeJson(bytes)
}

const BYTE_ORDER_MARK = new Uint8Array([0xef, 0xbb, 0xbf])

function decodeAs(media: MediaType, bytes: Buffer, acceptPatch: string | undefined): DecodedBody {
	const isJson = isJsonBodyType(media.type)
	const isForm = media.type === 'application/x-www-form-urlencoded'
	if (!isJson && !isForm && media.type !== 'multipart/form-data')
		throw unsupported('The Content-Type of the body is not supported', acceptPatch)
	requireUtf8(media)
	if (isJson) return { kind: 'json', value: decodeJson(bytes) }
	if (!isForm) return decodeAsMultipart(bytes, media)
	const fields = decodeForm(bytes)
	return { kind: 'form', value: fields.last, fields }
}

function decodeAsMultipart(bytes: Buffer, media: MediaType): DecodedBody {
	const boundary = media.parameters.get('boundary')
	if (boundary === undefined) {
		throw new RestError('bad_request', 'The Content-Type of a multipart body must have a boundary')
	}
	const { fields, files } = decodeMultipart(bytes, boundary)
	return { kind: 'multipart', value: fields.last, fields, files }
}

/** Sent with a 415: the supported types (RFC 9110 §12.5.1). */
const ACCEPT = 'application/json, application/x-www-form-urlencoded, multipart/form-data'

function unsupported(what: string, acceptPatch: string | undefined): RestError {
	const message = `${what}: send ${ACCEPT.replace(/, (?=[^,]*$)/, ' or ')}`
	return new RestError('unsupported_media_type', message, {
		headers: { Accept: ACCEPT, ...(acceptPatch === undefined ? {} : { 'Accept-Patch': acceptPatch }) },
	})
}

/** Refuses a Content-Encoding with a 415 that lists the supported ones in `Accept-Encoding` (RFC 9110 §12.5.3). */
function checkEncoding(encoding: string): void {
	if (/^(?:identity)?$/i.test(encoding)) return
	const headers = { 'Accept-Encoding': 'identity' }
	throw new RestError('unsupported_media_type', 'The body must have no Content-Encoding', { headers })
}
