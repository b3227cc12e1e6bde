/** Fields of a model's records, and the values that they hold: types of `Model`, which `model.ts` exports, too. */
import type { RawJson } from '../wire/raw-json.ts'

/**
 * The type of a field, and its form in JSON:
 *
 * - `boolean`: true or false
 * - `integer`: a number, within ±(2^53 − 1)
 * - `bigint`: a number with all its digits, within ±2^63; a string of digits if the field says `asText`
 * - `float`: a number, or `"NaN"`, `"Infinity"`, `"-Infinity"`
 * - `decimal`: a string, `"12.50"`
 * - `text`, `uuid` (lower case), `other` (whatever the store writes as text): a string
 * - `date`: `"2026-11-20"`; `time`: `"13:45:00"`
 * - `timestamp`: RFC 3339 in UTC with milliseconds, `"2026-11-20T13:45:00.123Z"`
 * - `json`: any JSON value
 * - `bytes`: base64
 */
export type FieldType =
	| 'boolean'
	| 'integer'
	| 'bigint'
	| 'float'
	| 'decimal'
	| 'text'
	| 'uuid'
	| 'other'
	| 'date'
	| 'time'
	| 'timestamp'
	| 'json'
	| 'bytes'

/** One field of a model's records. */
export interface Field {
	readonly name: string
	readonly type: FieldType
	/** Whether the field can be null. */
	readonly nullable: boolean
	/** Whether the store fills the field in new records that have no value for it: a default, a serial number. */
	readonly hasDefault: boolean
	/** Whether only the store writes the field: generated columns, identity columns that are always generated. */
	readonly generated: boolean
	/** Maximum length of a text, in characters. */
	readonly maxLength?: number | undefined
	/** The allowed texts. */
	readonly choices?: readonly string[] | undefined
	/** Minimum and maximum of an `integer` or a `bigint`, if narrower than the type's. */
	readonly min?: number | bigint | undefined
	readonly max?: number | bigint | undefined
	/**
	 * Maximum number of digits of a `decimal` before and after the point. If `after` is negative, that many of the last
	 * digits before the point are 0.
	 */
	readonly digits?: readonly [before: number, after: number] | undefined
	/** Maximum number of digits of a second in a `timestamp`, if fewer than nine. */
	readonly fraction?: number | undefined
	/** Whether a `bigint` is written as a string of digits. */
	readonly asText?: boolean | undefined
	/**
	 * Matches texts that aren't valid for the type, but may be stored: `0000-00-00` in a date of MariaDB. They are passed to
	 * the store unchanged.
	 */
	readonly besides?: RegExp | undefined
	/**
	 * Whether the field may hold values of other types, as in SQLite, and numbers in a boolean of MariaDB. A cursor has these
	 * values as they are stored, and bytes as `{ "x": "00ff" }`.
	 */
	readonly loose?: boolean | undefined
	/**
	 * Whether the store can compare only whole texts, as PostgreSQL does with a nondeterministic collation. Such a field isn't
	 * searchable, and has no operators that match parts or ignore case.
	 */
	readonly wholeOnly?: boolean | undefined
	/**
	 * Whether a text is written with the blanks that fill it up to `maxLength`, as PostgreSQL does with `char(n)`. Ids don't
	 * have them.
	 */
	readonly padded?: boolean | undefined
	/** Whether a `timestamp` is written with all its digits, because it is part of a key, unique or foreign. */
	readonly allDigits?: boolean | undefined
}

/** A foreign key: the values of `fields` are those of `to` in a record of another model. */
export interface Reference {
	readonly fields: readonly string[]
	readonly to: readonly string[]
}

/**
 * A value on its way to the store, by the type of its field: `boolean`; number for `integer` and `float`
 * (NaN and infinities too); number or, beyond 2^53, bigint for `bigint`; RawJson for `json`; Uint8Array for
 * `bytes`; string for all other types, `timestamp` as RFC 3339 in UTC with up to nine digits of a second.
 */
export type Value = null | boolean | number | bigint | string | Uint8Array | RawJson

/** In `Changes`: sets the field to its default. */
export const DEFAULT: unique symbol = Symbol('verbena.default')

/** In `Values` and `Changes`: sets a `timestamp` to the store's current time. Only passed to models that say `setsNow`. */
export const NOW: unique symbol = Symbol('verbena.now')

/** Values by field name; only fields of the model, none of them generated. */
export type Values = Readonly<Record<string, Value | typeof NOW>>
/** New values by field name. `DEFAULT` only for fields that have a default. */
export type Changes = Readonly<Record<string, Value | typeof DEFAULT | typeof NOW>>
