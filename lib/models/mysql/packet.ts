/** Whether a statement is within the server's `max_allowed_packet`. Called by `driver.ts` before it sends one. */
import type { Bytes } from '../../base/time.ts'

/** Lru for what is sent beside texts and bytes, and for a value that is neither. */
const BESIDE: Bytes = 1_024
const SMALL: Bytes = 16

/** Only where it comes near, each text is measured. */
export function fits(sql: string, values: readonly unknown[], largest: Bytes): boolean {
	let most = sql.length + BESIDE
	for (const value of values) most += typeof value === 'string' ? value.length * 3 : sizeOf(value)
	if (most <= largest) return true
	let bytes = Buffer.byteLength(sql) + BESIDE
	for (const value of values) bytes += typeof value === 'string' ? Buffer.byteLength(value) : sizeOf(value)
	return bytes <= largest
}

function sizeOf(value: unknown): Bytes {
	return value instanceof Uint8Array ? value.length : SMALL
}
