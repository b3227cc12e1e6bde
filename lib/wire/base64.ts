/** Base64 (RFC 4648 §4) for keys and signatures. Decoding is strict: only the canonical encoding is accepted. */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const INVALID = 64
/** The value of each character below 128, or {@link INVALID}. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => {
	const value = ALPHABET.indexOf(String.fromCharCode(code))
	return value === -1 ? INVALID : value
})

/**
 * The bytes of canonical base64 with padding; `undefined` for any other text. Unused bits must be zero (RFC 4648 §3.5):
 * a signature that can be written in two ways could be changed unnoticed.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
	const { length } = text
	if (length % 4 !== 0) return undefined
	if (length === 0) return new Uint8Array(0)
	const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
	const bytes = new Uint8Array((length / 4) * 3 - padding)
	let bits = 0
	let held = 0
	let to = 0
	for (let at = 0; at < length - padding; at++) {
		const code = text.charCodeAt(at)
		const value = code < 128 ? (VALUES[code] ?? INVALID) : INVALID
		if (value === INVALID) return undefined
		bits = ((bits << 6) | value) & 0xffff
		held += 6
		if (held < 8) continue
		held -= 8
		bytes[to++] = bits >> held
	}
	return (bits & ((1 << held) - 1)) === 0 ? bytes : undefined
}

export function encodeBase64(bytes: Uint8Array): string {
	let text = ''
	for (const byte of bytes) text += String.fromCharCode(byte)
	return btoa(text)
}
