/**
 * `multipart/form-data` (RFC 7578) from bytes in memory, synchronously. Ours, because `Response.formData()`
 * of Node refuses unquoted names, and turns bytes that are not UTF-8 into U+FFFD.
 */
import { Buffer, File } from 'node:buffer'
import { RestError } from '../../base/error.ts'
import { parseMediaType, requireUtf8 } from './content-type.ts'
import { Fields } from './fields.ts'
import { type Part, parsePart } from './part.ts'
import { decodeUtf8 } from './utf8.ts'

/** Most parts in one body. */
export const MAX_PARTS = 1_000

/** What a multipart body holds. */
export interface Multipart {
	/** The parts without a file name, as text. */
	readonly fields: Fields
	/** The parts with a file name, by field, in the order they came. Without prototype. */
	readonly files: Readonly<Record<string, File[]>>
}

/**
 * Splits a body at its boundary (RFC 2046 §5.1.1). What stands before the first delimiter and after the
 * last is ignored. A delimiter is a whole line: `--boundary`, perhaps `--`, perhaps spaces or tabs; a line
 * that only begins so is content. A part with a file name is a file, its bytes exact, its type
 * `text/plain` where none is sent (RFC 7578 §4.4); any other is UTF-8 text. A file without name and
 * content is what browsers send for a file input left empty: it is left out. `_charset_` means nothing.
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
	/** Where the line break before it begins: the content before ends here. */
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

/** The next delimiter line. Each byte is looked at once by the search, however many lines look alike. */
function nextLine(bytes: Buffer, delimiter: Buffer, from: number): DelimiterLine | undefined {
	for (let start = bytes.indexOf(delimiter, from); start !== -1; ) {
		const after = start + delimiter.length
		const line = restOfLine(bytes, start, after)
		if (line !== undefined) return line
		start = bytes.indexOf(delimiter, after)
	}
	return undefined
}

/** Reads on after a boundary: whether the line ends there, which makes it a delimiter. */
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
