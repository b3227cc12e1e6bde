/** Bytes to text, strictly: what is not UTF-8 is refused, never replaced by U+FFFD. For every decoder. */
import { Buffer, constants, isAscii, isUtf8 } from 'node:buffer'
import { RestError } from '../../base/error.ts'

/** Of longer texts, mostly ASCII, checking for it and copying is faster than decoding UTF-8. */
const SHORT = 1_024
const REPLACEMENT = '\uFFFD'

/**
 * The text that `bytes` spell in UTF-8; a byte order mark is kept. `what` begins the message: `The body`.
 *
 * @throws RestError `bad_request` when they are not UTF-8, with the offset of the first wrong byte, from 0;
 * `content_too_large` when they are longer than a string can be (512 MiB in Node 20)
 */
export function decodeUtf8(bytes: Buffer, what: string): string {
	if (bytes.length > constants.MAX_STRING_LENGTH) {
		throw new RestError('content_too_large', `${what} is longer than text can be`)
	}
	if (bytes.length > SHORT && isAscii(bytes)) return bytes.toString('latin1')
	const text = bytes.toString()
	// Wrong bytes decode to U+FFFD, so text without it was right: cheaper than a look at the bytes.
	if (text.indexOf(REPLACEMENT) === -1 || isUtf8(bytes)) return text
	throw new RestError('bad_request', `${what} is not UTF-8 at byte ${wrongByte(bytes, text)}`)
}

/** Up to the first wrong byte, text and bytes agree: it is where the first U+FFFD is that was not sent. */
function wrongByte(bytes: Buffer, text: string): number {
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
