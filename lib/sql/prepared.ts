/** Which statements a driver keeps prepared: caches are bounded by number, and so each must be small. */
import type { Statement } from './driver.ts'

/** A prepared statement costs some hundred bytes a placeholder, on each connection, here and in the server. */
const MOST_VALUES = 128
const LONGEST_TEXT = 32_768

/** Whether it is worth its memory; a filter of thousands of values seldom comes again. */
export function isKept({ text, values }: Statement): boolean {
	return values.length <= MOST_VALUES && text.length <= LONGEST_TEXT
}
