/** Options of all SQL models, with defaults and checks. Called when an adapter opens models. */
import {
	flag,
	listOf,
	numberIn,
	oneOf,
	optional,
	optionsOf,
	or,
	type Reader,
	text,
} from '../../base/options.ts'
import type { Seconds } from '../../base/time.ts'
import type { KeyOption } from './key.ts'

/** How 64-bit integers are written in JSON. */
export type BigintForm = 'number' | 'string'

/** Options of all models of a database. */
export interface DatabaseOptions {
	/**
	 * How 64-bit integers are written in JSON: as strings, or as numbers with all digits, which JavaScript reads exactly
	 * only within ±2^53.
	 *
	 * @default 'number'
	 */
	readonly bigint?: BigintForm
	/**
	 * Timeout for getting a connection and a result from the driver; after it, the response is 503. Above 0, at most
	 * 86,400. Drivers themselves may wait forever.
	 *
	 * @default 5
	 */
	readonly timeoutSeconds?: Seconds
}

/** Options of `openAll`. */
export interface OpenAllOptions extends DatabaseOptions {
	/**
	 * Whether views are opened too, except the database's own. Their records can only be listed: open a view on its own,
	 * with `key`, to read and write single records.
	 *
	 * @default false
	 */
	readonly views?: boolean
}

/** Called by `openAll` for a view that can't be opened, because its table is gone for example; it is left out then. */
export type BrokenView = (name: string, error: unknown) => void

/** Options of one model. */
export interface TableOptions extends DatabaseOptions {
	/**
	 * The column that identifies records, or a list of columns that do so together: of an integer, uuid, text, date or
	 * timestamp type, unique and never null. `[]` if nothing identifies a record: then they can only be listed, by offset.
	 * Required for views, and for tables without a primary key.
	 *
	 * @default the primary key
	 */
	readonly key?: string | readonly string[]
}

/** Checked options with their defaults. */
export interface OpeningOptions {
	readonly key: KeyOption | undefined
	readonly bigint: BigintForm
	readonly timeoutSeconds: Seconds
	/** Only of `openAll`. */
	readonly views?: boolean
}

export const TIMEOUT_SECONDS: Seconds = 5

const keys = listOf('a column or a list of columns', text, 0)
const keyOption: Reader<KeyOption> = (place, given) =>
	typeof given === 'string' ? text(place, given) : keys(place, given)
const bigint = or(oneOf('number', 'string'), 'number')
/** Node's timers can't be longer than 24 days (longer ones fire after 1 ms), so the maximum is one day. */
const timeoutSeconds = or(numberIn({ above: 0, to: 86_400 }), TIMEOUT_SECONDS)
const OTHERS = { key: optional(keyOption), schema: optional(text), views: or(flag, false) }

/**
 * Checks the options and adds defaults. `owner` is the class that messages name; `others` are further options that this
 * call accepts.
 *
 * @throws TypeError for an option that does not exist, or of another type
 * @throws RangeError for a `timeoutSeconds` that isn't above 0 and at most 86,400
 */
export function openingOptions(
	owner: string,
	options: TableOptions,
	others: readonly (keyof typeof OTHERS)[],
): OpeningOptions {
	const otherReaders = Object.fromEntries(others.map((name) => [name, OTHERS[name]]))
	return {
		key: undefined,
		...optionsOf(owner, options as DatabaseOptions, { ...otherReaders, bigint, timeoutSeconds }),
	}
}
