/**
 * `Model`: what CRUD asks of a store of records. Eleven members: a model of another store implements
 * them, and is tried by `modelContract` of `verbena/testing`.
 */
import type { Bytes } from '../base/time.ts'
import type { RawJson } from '../wire/raw-json.ts'

/**
 * What a field holds, and how it is written in JSON:
 *
 * - `boolean`: true or false
 * - `integer`: a number, within ±(2^53 − 1)
 * - `bigint`: a number with all its digits, within ±2^63; a string of digits where the model says so
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
	/** Whether it can be null. */
	readonly nullable: boolean
	/** Whether the store gives it a value where a new record has none: a default, a serial number. */
	readonly hasDefault: boolean
	/** Whether the store alone writes it: generated columns, identity columns that are always generated. */
	readonly generated: boolean
	/** Most characters of a text. */
	readonly maxLength?: number | undefined
	/** The texts there are to choose from. */
	readonly choices?: readonly string[] | undefined
	/** Least and greatest of an `integer` or a `bigint`, where narrower than the type's own. */
	readonly min?: number | bigint | undefined
	readonly max?: number | bigint | undefined
	/**
	 * Most digits of a `decimal`, before the point and behind it; a negative number behind it says how many of those
	 * before it are 0.
	 */
	readonly digits?: readonly [before: number, behind: number] | undefined
	/** Whether `bigint` is written as a string of digits. */
	readonly asText?: boolean | undefined
	/**
	 * Texts that the store holds besides those of the type, matched as a whole: `0000-00-00` in a date of MariaDB. They
	 * go to the store as they are.
	 */
	readonly besides?: RegExp | undefined
	/**
	 * Whether the store may hold values of other types in it, as SQLite does: a cursor carries them as they are, and
	 * bytes as `{ "x": "00ff" }`.
	 */
	readonly loose?: boolean | undefined
	/**
	 * Whether the store can't look into its texts: PostgreSQL where the collation isn't deterministic. It isn't searchable
	 * then, and has no operators that look for parts or ignore case.
	 */
	readonly wholeOnly?: boolean | undefined
}

/**
 * A value on its way to the store, by the type of its field: `boolean`; number for `integer` and `float`
 * (NaN and infinities too); number or, beyond 2^53, bigint for `bigint`; RawJson for `json`; Uint8Array for
 * `bytes`; string for all others, `timestamp` as RFC 3339 in UTC with up to nine digits of a second.
 */
export type Value = null | boolean | number | bigint | string | Uint8Array | RawJson

/** Stands for the value that the store gives a field by itself. */
export const DEFAULT: unique symbol = Symbol('verbena.default')

/** Values by field name; only fields of the model, none of them generated. */
export type Values = Readonly<Record<string, Value>>
/** What is changed of a record. `DEFAULT` only for fields that have one. */
export type Changes = Readonly<Record<string, Value | typeof DEFAULT>>

/**
 * Which records are meant. A comparison with null is neither true nor false, as in SQL: `ne` and `not` don't
 * find records whose field is null. `and` of no terms is true, `or` and `in` of none false. Text comparisons take
 * every character literally; case is the store's, unless a condition says to ignore it.
 */
export type Condition =
	| { readonly op: 'and' | 'or'; readonly terms: readonly Condition[] }
	| { readonly op: 'not'; readonly term: Condition }
	| {
			readonly op: Comparison
			readonly field: string
			readonly value: Exclude<Value, null>
			/** Of `eq`: a text must be written exactly so, also where the store compares without case. */
			readonly exact?: boolean
			/** Of `eq`, where the value is a text: upper and lower case are the same, at least of A to Z. */
			readonly ignoreCase?: boolean
	  }
	| {
			readonly op: 'in'
			readonly field: string
			readonly values: readonly Exclude<Value, null>[]
			/** As in `eq`. */
			readonly exact?: boolean
	  }
	| { readonly op: 'null'; readonly field: string; readonly value: boolean }
	| {
			readonly op: 'contains' | 'startsWith' | 'endsWith'
			readonly field: string
			readonly value: string
			/** As in `eq`. */
			readonly ignoreCase?: boolean
	  }

/** Operators that compare a field with one value. */
export type Comparison = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte'

/** One term of an order. Nulls come last in both directions. */
export interface Order {
	readonly field: string
	readonly descending: boolean
}

/**
 * What of a record is answered. The same object is passed again and again: a model may keep in a WeakMap what
 * it has prepared for it.
 */
export interface Selection {
	/** Fields of the model, in the order of the JSON's keys. */
	readonly fields: readonly string[]
	/** The JSON's keys, one for each field. */
	readonly names: readonly string[]
	/** An integer field that every update raises by one. */
	readonly version: string | undefined
}

/** A record as JSON text, an object with the selection's names. */
export interface Found {
	readonly json: string
	/** Value of the selection's version field, in digits; `undefined` without one. */
	readonly version: string | undefined
}

/** A record that was made. */
export interface Created extends Found {
	/** The new record's key, as it is written in a URL before it is percent-encoded. */
	readonly id: string
}

/** Which one of the records: within `where`, and with a version if one is given. */
export interface Guard {
	/** The record must fit, else it is `'missing'`. */
	readonly where: Condition | undefined
	/** The record's version must be this, else it is `'stale'`. */
	readonly version: string | undefined
}

/** What a list is asked for. */
export interface ListQuery {
	readonly selection: Selection
	readonly where: Condition | undefined
	/** At least one term; the last is the key's. */
	readonly order: readonly Order[]
	/** 1 or more. */
	readonly limit: number
	/** 0 where `after` is given. */
	readonly offset: number
	/** Begins behind the record with these values, one for each term of the order. */
	readonly after: readonly Value[] | undefined
	/** Whether all records that fit are counted, those before `after` too. */
	readonly total: boolean
	/**
	 * Most bytes of the page's JSON and of `next`, in UTF-8: a larger one is refused by `too_large`, best before it
	 * is put together. A page that fits is never refused for the record behind it. `undefined` for what the store can.
	 */
	readonly maxBytes?: Bytes | undefined
}

/** A page of records. */
export interface Listed {
	/** A JSON array of at most `limit` records. */
	readonly json: string
	/**
	 * A JSON array of the last record's values in the terms of the order, as exactly as the store knows them
	 * (bigint and decimal as strings, timestamps with all digits); `undefined` when no record follows.
	 */
	readonly next: string | undefined
	/** `undefined` when it wasn't asked for. */
	readonly total: number | undefined
}

/**
 * A store of records, one kind of them. Ids are the key's value as text in its shortest form (digits,
 * lower-case uuid, text as it is); an id that can't be the key's is never passed.
 *
 * @throws ModelError by every method, for what the store refuses and when it can't be reached
 */
export interface Model {
	/** Name for messages to programmers: the table's. */
	readonly name: string
	readonly fields: readonly Field[]
	/** Name of the field that tells records apart: `integer`, `bigint`, `uuid` or `text`. */
	readonly key: string
	/** Whether records can only be read: views. */
	readonly readOnly: boolean
	/** A page of the records that fit. */
	list(query: ListQuery): Promise<Listed>
	/** How many records fit; all of them for `undefined`. */
	count(where: Condition | undefined): Promise<number>
	/** The record, if it is there and fits. */
	read(id: string, selection: Selection, where: Condition | undefined): Promise<Found | undefined>
	/** Makes a record; a field that isn't given gets its default, else null. */
	create(values: Values, selection: Selection): Promise<Created>
	/** `changes` has at least one field. */
	update(id: string, changes: Changes, selection: Selection, guard: Guard): Promise<Found | Absent>
	/** Answers the record as it was. */
	delete(id: string, selection: Selection, guard: Guard): Promise<Found | Absent>
	/** Calls `work` with a model whose changes all count, or, when `work` rejects, none does. */
	transaction<T>(work: (model: Model) => Promise<T>): Promise<T>
	/**
	 * Asks the store for a sign of life, for the option `health`; left out where there is nothing to be asked.
	 *
	 * @param writes whether records are changed by a handler: a store that only reads, as a replica, then fails
	 * @throws ModelError `unavailable` where it can't be reached
	 */
	check?(writes?: boolean): Promise<void>
	/** What `check` asks: of models that have the same, one is asked. @default the model itself */
	readonly source?: object
}

/** Why a guarded record was left alone. */
export type Absent = 'missing' | 'stale'
