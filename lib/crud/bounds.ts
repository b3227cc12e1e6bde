/** The options of a `CrudHandler` that are numbers, with their defaults and ranges. Called by `plan.ts`. */
import type { Bytes } from '../base/time.ts'
import { LARGEST_PAGE } from '../models/model-error.ts'
import type { CrudOptions } from './options.ts'

/** What a client may ask of a list. */
export interface CrudBounds {
	readonly limit: number
	readonly maxLimit: number
	readonly maxPageBytes: Bytes
	readonly maxTextTerms: number
	readonly maxIn: number
}

/** The greatest that each can be; any number where none is named. */
const GREATEST: Partial<Record<string, number>> = {
	maxPageBytes: LARGEST_PAGE,
	maxTextTerms: 100,
	maxIn: 10_000,
}

/** @throws RangeError that names the option and its range */
export function boundsOf(owner: string, options: CrudOptions): CrudBounds {
	const { limit = 25, maxLimit = 100, maxPageBytes = 8_388_608, maxTextTerms = 10, maxIn = 100 } = options
	const bounds = { limit, maxLimit, maxPageBytes, maxTextTerms, maxIn }
	for (const [name, value] of Object.entries(bounds)) {
		const greatest = GREATEST[name]
		if (Number.isSafeInteger(value) && value >= 1 && value <= (greatest ?? value)) continue
		const range = greatest === undefined ? 'from 1 up' : `from 1 to ${greatest}`
		throw new RangeError(`${owner}: ${name} must be a whole number ${range}, got ${String(value)}`)
	}
	if (limit > maxLimit)
		throw new RangeError(`${owner}: limit ${limit} is more than maxLimit ${maxLimit}: raise maxLimit`)
	return bounds
}
