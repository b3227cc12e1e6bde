/**
 * Slots of Redis Cluster. A script may only use keys of one slot, so an entry that counts towards a caller's share has a hash tag in its
 * name, which its counts have too. There are as many tags as `TAGS`, so that callers are spread over the masters.
 */
import type { Owner } from '../shares.ts'

const SLOTS = 16_384

/**
 * Number of tags. More would spread callers more evenly, but the bytes that callers share are divided among the tags. Each of up to
 * eight masters has some of them, if the masters have equal parts of the slots.
 */
export const TAGS = 16

/** The slot of a key: of its hash tag, if it has one. */
export function slotOf(key: string): number {
	return crc16(Buffer.from(tagOf(key) ?? key)) % SLOTS
}

/** The text between the first `{` and the next `}`, unless it is empty. */
export function tagOf(key: string): string | undefined {
	const start = key.indexOf('{')
	const end = start === -1 ? -1 : key.indexOf('}', start + 1)
	return end <= start + 1 ? undefined : key.slice(start + 1, end)
}

/** The tag of all entries of a caller for a purpose. */
export function tagFor({ purpose, caller }: Owner): string {
	return tag(crc16(Buffer.from(`${purpose}:${caller}`)) % TAGS)
}

export function tag(number: number): string {
	return `{${number.toString(TAGS)}}`
}

/** CRC-16/XMODEM, by which Redis Cluster assigns slots. */
function crc16(bytes: Uint8Array): number {
	let crc = 0
	for (const byte of bytes) {
		crc ^= byte << 8
		for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
	}
	return crc
}
