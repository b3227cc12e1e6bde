/** One part of a multipart body: its headers read, its content left as the bytes it is. */
import { Buffer } from 'node:buffer'
import { RestError } from '../../base/error.ts'
import { type Disposition, parseDisposition } from './disposition.ts'
import { decodeUtf8 } from './utf8.ts'

/** Most bytes of headers in one part. */
export const MAX_PART_HEADERS: number = 16 * 1024

/** A part, taken apart. */
export interface Part extends Disposition {
	/** Content-Type as sent; `undefined` where there is none. */
	readonly contentType: string | undefined
	/** A view of the body's own bytes. */
	readonly content: Buffer
}

/**
 * Reads what stands between two delimiters. Headers other than Content-Disposition, Content-Type and
 * Content-Transfer-Encoding are ignored (RFC 7578 §4.8). `where` begins messages: `Part 3`.
 *
 * @throws RestError `bad_request` when a header is malformed, not UTF-8, or repeated; when there is no usable
 * Content-Disposition, or a Content-Transfer-Encoding that changes bytes; `content_too_large` for more
 * than {@link MAX_PART_HEADERS}
 */
export function parsePart(bytes: Buffer, where: string): Part {
	const { head, content } = split(bytes, where)
	const headers = parseHeaders(decodeUtf8(head, `The header block of ${where.toLowerCase()}`), where)
	const disposition = headers.get('content-disposition')
	if (disposition === undefined) throw new RestError('bad_request', `${where} has no Content-Disposition`)
	checkEncoding(headers.get('content-transfer-encoding'), where)
	return { ...parseDisposition(disposition, where), contentType: headers.get('content-type'), content }
}

/** RFC 2046 §5.1: header lines, an empty line, content; a part without content may end after its headers. */
function split(bytes: Buffer, where: string): { head: Buffer; content: Buffer } {
	if (bytes.subarray(0, 2).equals(LINE_END)) return { head: bytes.subarray(0, 0), content: bytes.subarray(2) }
	const found = bytes.indexOf(EMPTY_LINE)
	const headersOnly = found === -1 && bytes.subarray(-2).equals(LINE_END)
	const end = headersOnly ? bytes.length - 2 : found
	if (end > MAX_PART_HEADERS) {
		throw new RestError('content_too_large', `${where} has more than ${MAX_PART_HEADERS} bytes of headers`)
	}
	if (end === -1) {
		throw new RestError('bad_request', `${where} has no empty line after its headers; lines end with CR LF`)
	}
	return { head: bytes.subarray(0, end), content: bytes.subarray(headersOnly ? bytes.length : end + 4) }
}

const LINE_END: Buffer = Buffer.from('\r\n')
const EMPTY_LINE: Buffer = Buffer.from('\r\n\r\n')

/** The headers that count, by name in lower case. A folded line is one line (RFC 5322 §2.2.3). */
function parseHeaders(head: string, where: string): Map<string, string> {
	const headers = new Map<string, string>()
	if (head === '') return headers
	for (const line of head.replace(/\r\n(?=[\t ])/g, '').split('\r\n')) {
		const colon = line.indexOf(':')
		const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
		if (!HEADER_NAME.test(name) || CONTROL.test(line)) {
			throw new RestError(
				'bad_request',
				`${where} has a malformed header: lines are Name: value, ended by CR LF`,
			)
		}
		if (!READ.has(name)) continue
		// Of two, a proxy might have judged the other.
		if (headers.has(name)) throw new RestError('bad_request', `${where} has a header twice: ${name}`)
		headers.set(name, line.slice(colon + 1).trim())
	}
	return headers
}

const HEADER_NAME = /^[!#$%&'*+.^`|~\w-]+$/
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/
const READ: ReadonlySet<string> = new Set([
	'content-disposition',
	'content-type',
	'content-transfer-encoding',
])

/** RFC 7578 §4.7: deprecated, and not needed over HTTP. These three mean the bytes as they are. */
function checkEncoding(encoding: string | undefined, where: string): void {
	if (encoding === undefined || /^(?:7bit|8bit|binary)$/i.test(encoding)) return
	const right = 'it must be 7bit, 8bit or binary, or left out'
	throw new RestError('bad_request', `${where} has an unsupported Content-Transfer-Encoding: ${right}`)
}
