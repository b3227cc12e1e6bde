/** Ids of URLs. One that can't be the key's names no record: it is known before anything is asked. */

import type { Field } from '../models/model.ts'
import { isUuid } from '../validate/format.ts'

const WHOLE = /^(?:0|-?[1-9]\d{0,18})$/
/** Digits of which every number is exact. */
const EXACT_DIGITS = 15

/**
 * A function that reads the ids of a key: answers the id in its shortest form, and `undefined` for a text that
 * isn't written as the key's type is: integers in their shortest form, uuids in either case.
 */
export function idReader(key: Field): (text: string) => string | undefined {
	if (key.type === 'uuid') return (text) => (isUuid(text) ? text.toLowerCase() : undefined)
	if (key.type !== 'integer' && key.type !== 'bigint') return (text) => textId(key, text)
	const bits = key.type === 'integer' ? 2n ** 53n : 2n ** 63n
	const least = BigInt(key.min ?? (key.type === 'integer' ? 1n - bits : -bits))
	const greatest = BigInt(key.max ?? bits - 1n)
	const [low, high] = [Number(least), Number(greatest)]
	return (text) => {
		if (!WHOLE.test(text)) return undefined
		if (text.length <= EXACT_DIGITS) {
			const number = Number(text)
			return number >= low && number <= high ? text : undefined
		}
		const number = BigInt(text)
		return number >= least && number <= greatest ? text : undefined
	}
}

function textId({ maxLength, choices }: Field, text: string): string | undefined {
	// Nobody can ask for these: clients resolve dot segments, and no path may hold control characters.
	if (/^\.{0,2}$|[\x00-\x1f\x7f\p{Surrogate}]/u.test(text)) return undefined
	if (choices !== undefined && !choices.includes(text)) return undefined
	if (maxLength !== undefined && text.length > maxLength && [...text].length > maxLength) return undefined
	return text
}
