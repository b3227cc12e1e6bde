/** The options of all SQL models, their defaults and their checks. Called when an adapter opens models. */
import { nearest } from '../../base/options.ts'
import type { Seconds } from '../../base/time.ts'

/** How 64-bit integers are written in JSON. */
export type BigintForm = 'number' | 'string'

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

/** Longer than a day nobody waits; timers of Node end at 24 days, and then take 1 ms instead. */
const MOST_SECONDS: Seconds = 86_400

const NAMES = ['bigint', 'timeoutSeconds']

/**
 * The options with their defaults. `owner` is the class whose they are, `others` the names of those that only
 * some calls take: `key`, `schema`.
 *
 * @throws TypeError for an option that there isn't, or of another kind
 * @throws RangeError for a `timeoutSeconds` that isn't above 0 and at most 86,400
 */
export function openingOptions(
	owner: string,
	options: TableOptions,
	others: readonly ('key' | 'schema')[],
): OpeningOptions {
	if (typeof options !== 'object' || options === null) {
		throw new TypeError(
			`the options of ${owner} must be an object, got ${options === null ? 'null' : typeof options}`,
		)
	}
	const names = [...others, ...NAMES]
	const unknown = Object.keys(options).find((name) => !names.includes(name))
	if (unknown !== undefined)
		throw new TypeError(`${owner} has no option ${unknown}${nearest(unknown, names)}`)
	for (const name of others) {
		const given: unknown = Reflect.get(options, name)
		if (given !== undefined && typeof given !== 'string')
			throw new TypeError(`${name} must be a string, got ${given === null ? 'null' : typeof given}`)
	}
	const { key, bigint = 'number', timeoutSeconds = TIMEOUT_SECONDS } = options
	if (bigint !== 'number' && bigint !== 'string')
		throw new TypeError(`bigint must be 'number' or 'string', got ${shown(bigint)}`)
	if (typeof timeoutSeconds !== 'number')
		throw new TypeError(`timeoutSeconds must be a number, got ${shown(timeoutSeconds)}`)
	if (!(timeoutSeconds > 0 && timeoutSeconds <= MOST_SECONDS))
		throw new RangeError(`timeoutSeconds must be above 0 and at most ${MOST_SECONDS}, got ${timeoutSeconds}`)
	return { key, bigint, timeoutSeconds }
}

function shown(value: unknown): string {
	return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
