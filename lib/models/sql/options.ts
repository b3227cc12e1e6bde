/** The options of all SQL models, their defaults and their checks. Called when an adapter opens models. */
import { numberIn, oneOf, optional, optionsOf, or, text } from '../../base/options.ts'
import type { Seconds } from '../../base/time.ts'

/** How 64-bit integers are written in JSON. */
export type BigintForm = 'number' | 'string'

/** Options of all models of a database. */
export interface DatabaseOptions {
	/**
	 * How 64-bit integers are written in JSON: as numbers with all their digits, of which JavaScript reads those
	 * within ±2^53 exactly, or as strings.
	 *
	 * @default 'number'
	 */
	readonly bigint?: BigintForm
	/**
	 * How long the driver is waited for at most, for a connection or for an answer; then the request is answered
	 * 503. Above 0, at most 86,400. Drivers themselves may wait for ever.
	 *
	 * @default 5
	 */
	readonly timeoutSeconds?: Seconds
}

/** Options of one model. */
export interface TableOptions extends DatabaseOptions {
	/**
	 * The column that tells records apart: an integer, a uuid or a text, unique and never null. Needed for views,
	 * and for tables without a primary key of one column.
	 *
	 * @default the primary key
	 */
	readonly key?: string
}

/** Options that have been checked. */
export interface OpeningOptions {
	readonly key: string | undefined
	readonly bigint: BigintForm
	readonly timeoutSeconds: Seconds
}

export const TIMEOUT_SECONDS: Seconds = 5

const bigint = or(oneOf('number', 'string'), 'number')
/** Timers of Node end at 24 days, and then take 1 ms instead. */
const timeoutSeconds = or(numberIn({ above: 0, to: 86_400 }), TIMEOUT_SECONDS)

/**
 * The options with their defaults. `owner` is the class that they are for, `others` the names of those that only
 * some calls take.
 *
 * @throws TypeError for an option that does not exist, or of another type
 * @throws RangeError for a `timeoutSeconds` that isn't above 0 and at most 86,400
 */
export function openingOptions(
	owner: string,
	options: TableOptions,
	others: readonly ('key' | 'schema')[],
): OpeningOptions {
	const own = Object.fromEntries(others.map((name) => [name, optional(text)]))
	return {
		key: undefined,
		...optionsOf(owner, options as DatabaseOptions, { ...own, bigint, timeoutSeconds }),
	}
}
