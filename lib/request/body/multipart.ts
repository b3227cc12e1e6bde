/**
 * Decodes `multipart/form-data` (RFC 7578) from bytes in memory, synchronously. Node's own `Response.formData()` refuses
 * unquoted names, and turns bytes that are not UTF-8 into U+FFFD.
 */
import { Buffer, File } from 'node:buffer'
import { RestError } from '../../base/error.ts'
import { decodeUtf8, parseMediaType, parseParameters, requireUtf8 } from './content-type.ts'
import { Fields, RESERVED_NAME, reservedName } from './form.ts'

const MAX_PARTS = 1_000

export interface Multipart {
	/** The parts without a file name, as text. */
	readonly fields: Fields
	/** The parts with a file name, by field, in the order they came. Without prototype. */
	readonly files: Readonly<Record<string, File[]>>
}

/**
 * Splits a body at its boundary (RFC 2046 §5.1.1). Bytes before the first delimiter and after the last are
 * ignored. A delimiter is a whole line: `--boundary`, optionally `--`, optionally spaces or tabs; a line that only
 * begins like one is content. A part with a file name is a file with its exact bytes, of type `text/plain` if
 * none is sent (RFC 7578 §4.4); any other part is UTF-8 text. A file without name and content, which browsers
 * send for an empty file input, is left out. `_charset_` is a field like any other.
 *
 * @throws RestError `bad_request` when the boundary, a delimiter or a part is malformed, or text is not
 * UTF-8; `content_too_large` for more than {@link MAX_PARTS}, or too long headers;
 * `unsupported_media_type` when text says that it is in another charset
 */
export function decodeMultipart(bytes: Buffer, boundary: string): Multipart {
	checkBoundary(boundary)
	const delimiter = Buffer.from(`\r\n--${boundary}`)
	const fields = new Fields()
	const files = Object.create(null) as Record<string, File[]>
	let line = firstLine(bytes, delimiter)
	for (let number = 1; !line.last; number++) {
		if (number > MAX_PARTS) {
			throw new RestError('content_too_large', `The multipart body has more than ${MAX_PARTS} parts`)
		}
		const next = nextLine(bytes, delimiter, line.end)
		if (next === undefined) throw new RestError('bad_request', NOT_CLOSED)
		addPart({ fields, files }, bytes.subarray(line.end, next.start), `Part ${number}`)
		line = next
	}
	return { fields, files }
}

/** RFC 2046 §5.1.1: 1 to 70 of these characters, the last not a space. */
function checkBoundary(boundary: string): void {
	if (/^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/.test(boundary)) return
	const right = "1 to 70 letters, digits or '()+_,-./:=? and inner spaces"
	throw new RestError('bad_request', `The boundary in Content-Type is malformed: it must be ${right}`)
}

const NOT_OPENED =
	'The multipart body has no first delimiter: -- and the boundary of Content-Type, ended by CR LF'
const NOT_CLOSED =
	'The multipart body is not closed: it must end with a line of --, the boundary in Content-Type, and --'

interface DelimiterLine {
	/** Where the line break before the delimiter begins, which is the end of the content before it. */
	readonly start: number
	/** Where the next part begins. */
	readonly end: number
	readonly last: boolean
}

function firstLine(bytes: Buffer, delimiter: Buffer): DelimiterLine {
	const bare = delimiter.subarray(2)
	const atOnce = bytes.subarray(0, bare.length).equals(bare) ? restOfLine(bytes, 0, bare.length) : undefined
	const line = atOnce ?? nextLine(bytes, delimiter, 0)
	if (line === undefined) throw new RestError('bad_request', NOT_OPENED)
	return line
}

/** The next delimiter line. The search looks at each byte once, even if many lines begin like a delimiter. */
function nextLine(bytes: Buffer, delimiter: Buffer, from: number): DelimiterLine | undefined {
	for (let start = bytes.indexOf(delimiter, from); start !== -1; ) {
		const after = start + delimiter.length
		const line = restOfLine(bytes, start, after)
		if (line !== undefined) return line
		start = bytes.indexOf(delimiter, after)
	}
	return undefined
}

/** Reads the rest of a delimiter after the boundary: optionally `--`, blanks, CR LF. `undefined` for anything else. */
function restOfLine(bytes: Buffer, start: number, after: number): DelimiterLine | undefined {
	const last = bytes[after] === DASH && bytes[after + 1] === DASH
	let at = last ? after + 2 : after
	while (bytes[at] === SPACE || bytes[at] === TAB) at++
	if (last && at === bytes.length) return { start, end: at, last }
	return bytes[at] === CR && bytes[at + 1] === LF ? { start, end: at + 2, last } : undefined
}

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const DASH = 0x2d

function addPart(to: { fields: Fields; files: Record<string, File[]> }, bytes: Buffer, where: string): void {
	const part = parsePart(bytes, where)
	const { name, filename, content, contentType } = part
	if (filename === undefined) {
		to.fields.add(name, textOf(part, where))
		return
	}
	if (filename === '' && content.length === 0) return
	const file = new File([content], filename, { type: contentType ?? 'text/plain' })
	const files = to.files[name]
	if (files === undefined) to.files[name] = [file]
	else files.push(file)
}

function textOf({ content, contentType }: Part, where: string): string {
	const header = `Content-Type of ${where.toLowerCase()}`
	if (contentType !== undefined) requireUtf8(parseMediaType(contentType, header), header)
	return decodeUtf8(content, where)
}

/** Maximum size of the headers of one part, in bytes. */
export const MAX_PART_HEADERS: number = 16 * 1024

/** A part: its parsed headers, and its content as bytes. */
export interface Part extends Disposition {
	/** Content-Type as sent. */
	readonly contentType: string | undefined
	/** A view of the body's bytes. */
	readonly content: Buffer
}

/**
 * Parses the bytes between two delimiters. Headers other than Content-Disposition, Content-Type and
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

/** The headers that are read, by lower-case name. A folded line is one line (RFC 5322 §2.2.3). */
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
		// A proxy might have checked the other one.
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

/** Refuses encodings that change bytes: the header is deprecated, and not needed over HTTP (RFC 7578 §4.7). */
function checkEncoding(encoding: string | undefined, where: string): void {
	if (encoding === undefined || /^(?:7bit|8bit|binary)$/i.test(encoding)) return
	const right = 'it must be 7bit, 8bit or binary, or left out'
	throw new RestError('bad_request', `${where} has an unsupported Content-Transfer-Encoding: ${right}`)
}

/** A part's Content-Disposition, as real clients write it. */
export interface Disposition {
	/** The field's name; may be empty. */
	readonly name: string
	/** The file's name as sent: data, never a path to write to. `undefined` if the part is text. */
	readonly filename: string | undefined
}

/**
 * Parses `form-data; name="photo"; filename="cat.png"` (RFC 7578 §4.2). Names may be tokens, which .NET
 * sends, or quoted. In quotes, browsers escape as `%22`, `%0D` and `%0A` (HTML standard,
 * multipart/form-data encoding algorithm), other clients as `\"` and `\\`; any other backslash and
 * percent sign stands for itself, so `C:\a.txt` and `50%.txt` are kept as they are.
 * `filename*` (RFC 8187) wins over `filename` (RFC 6266 §4.3). `where` begins messages: `Part 3`.
 *
 * @throws RestError `bad_request` when it is malformed, isn't `form-data`, has no name, or `__proto__` as
 * its name, or when `filename*` is not in UTF-8
 */
export function parseDisposition(header: string, where: string): Disposition {
	const type = DISPOSITION_TYPE.exec(header)?.[0]
	if (type?.toLowerCase() !== 'form-data') throw wrongDisposition(where, 'must be form-data')
	const parameters = parseParameters(header, type.length, unquote)
	if (parameters === undefined)
		throw wrongDisposition(where, 'is malformed: parameters are ; name="value", each once')
	const name = parameters.get('name')
	if (name === undefined) throw wrongDisposition(where, 'has no name')
	if (name === RESERVED_NAME) throw reservedName(where)
	const extended = parameters.get('filename*')
	const filename = extended === undefined ? parameters.get('filename') : decodeExtended(extended, where)
	return { name, filename }
}

const DISPOSITION_TYPE = /^[\w-]+/

function wrongDisposition(where: string, what: string): RestError {
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
		// The error below says what is valid.
	}
	throw wrongDisposition(where, "has a wrong filename*: it must be UTF-8'' and percent-encoded text")
}
