/**
 * `Model`: the interface between CRUD and a store of records. To support another store, implement it, and test it with
 * `modelContract` of `verbena/testing`.
 */
import type { Bytes } from '../base/time.ts'
import type { Changes, Field, Reference, Value, Values } from './field.ts'
import type { ModelError } from './model-error.ts'
import type { Comparison, TimePart, Total, Totaled, TotalsCondition, TotalsOrder } from './total.ts'

export type { Changes, Field, FieldType, Reference, Value, Values } from './field.ts'
export { DEFAULT, NOW } from './field.ts'
export type { Comparison, TimePart, Total, Totaled, TotalsCondition, TotalsOrder } from './total.ts'

/**
 * A condition on records. A comparison with null is neither true nor false, as in SQL: `ne` and `not` don't match
 * records whose field is null. `and` without terms is true; `or` without terms and `in` without values are false. Text
 * comparisons take every character literally. Whether case counts is up to the store, unless the condition has `exact` or
 * `ignoreCase`.
 */
export type Condition =
	| { readonly op: 'and' | 'or'; readonly terms: readonly Condition[] }
	| { readonly op: 'not'; readonly term: Condition }
	| {
			readonly op: Comparison
			readonly field: string
			readonly value: Exclude<Value, null>
			/** For `eq`: compares a text exactly, even if the store ignores case. */
			readonly exact?: boolean
			/** For `eq` with a text: ignores case, at least of A to Z. */
			readonly ignoreCase?: boolean
			/** For `eq` with a text: uses the collation of this field, which `field` references. @default that of `field` */
			readonly as?: { readonly model: Model; readonly field: string } | undefined
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
	| {
			/** Whether a related record matches `where`. Never unknown. Only for links to a model that this one `joins`. */
			readonly op: 'some'
			readonly link: Link
			readonly where: Condition | undefined
			/** Counts only related records for which this condition isn't true: it's false or unknown. */
			readonly fails?: Condition | undefined
			/** A hint: an index finds the related records that match, so a list should start from those, not from its own. */
			readonly selective?: boolean
	  }
	| {
			/** Compares the number of related records that match `where`. As for `some`. */
			readonly op: 'count'
			readonly link: Link
			readonly where: Condition | undefined
			readonly compare: Comparison
			/** A whole number from 0 to 2^53 - 2. */
			readonly value: number
	  }

/**
 * How records are related to those of a model, or of the same one: each value of `fields` equals that of the field in
 * `to` at the same place. Null equals nothing.
 */
export interface Link {
	/** The model of the related records. */
	readonly model: Model
	/** Fields of the records. */
	readonly fields: readonly string[]
	/** Fields of the related records. */
	readonly to: readonly string[]
	/** Whether a record may have several related ones. */
	readonly isMany: boolean
	/** Whether the foreign key is in the related records. Texts are compared by the referenced side. @default `isMany` */
	readonly refersBack?: boolean
	/**
	 * For many to many, the junction records: the values of `fields` equal those of `from`, and those of `on` equal
	 * those of `to`. A related record counts once, however many junction records lead to it.
	 */
	readonly through?: {
		readonly model: Model
		readonly from: readonly string[]
		readonly on: readonly string[]
	}
}

/** One term of an order. Nulls come last in both directions. */
export interface Order {
	readonly field: string
	readonly descending: boolean
	/**
	 * Links, none of them `isMany`, that lead to the record with `field`; each to a model that this one `joins`. The value
	 * is null if there is no such record, or one on the way doesn't match its `where`.
	 */
	readonly via?: readonly { readonly link: Link; readonly where: Condition | undefined }[] | undefined
}

/** The fields of a record to return. `CrudHandler` passes the same object each time, so a WeakMap can cache what it compiles to. */
export interface Selection {
	/** Fields of the model, in the order of the JSON's keys. */
	readonly fields: readonly string[]
	/** The JSON's keys, one for each field. */
	readonly names: readonly string[]
	/** An integer field that every update increments. */
	readonly version: string | undefined
	/** Related records, after the fields. Only for links to a model that this one `embeds`. */
	readonly related?: readonly Related[] | undefined
}

/**
 * Related records within each record's JSON: if the link isn't `isMany`, an object or null; else
 * `{"data":[…],"meta":{"limit":5,"next":…}}`, in which `next` is null, or a text that `list.cursor` returns.
 */
export interface Related {
	/** The JSON's key. */
	readonly name: string
	readonly link: Link
	/** The related records' fields, and those related to them; its `version` is not read. */
	readonly selection: Selection
	/** The condition that related records match. */
	readonly where: Condition | undefined
	/** Larger related records are read separately and once, so that the store doesn't copy them into each record. @default none */
	readonly maxBytes?: Bytes | undefined
	/** For a link that `isMany`. */
	readonly list?:
		| {
				/** As in `ListQuery`. */
				readonly order: readonly Order[]
				/** Maximum number of related records within each record, from 0 up. */
				readonly limit: number
				/**
				 * If given, `meta` has the number of related records that match, `total`. If there are more than this, it is
				 * this number, followed by `"more":true`. `Infinity` counts them all.
				 */
				readonly count: number | undefined
				/** Returns the cursor after the last record, from its sort values as in `Listed.next`. */
				cursor(next: string): string
		  }
		| undefined
}

/** A record as JSON, an object with the selection's names. */
export interface Found {
	readonly json: string
	/** The value of the selection's version field, as digits; `undefined` if the selection has none. */
	readonly version: string | undefined
}

/** A new record. */
export interface Created extends Found {
	/** The new record's id: see `Model`. */
	readonly id: string
}

/** A record to create, and the changes to make instead if there is one with the same values of `on`. */
export interface Upsert {
	/** The values of a new record. Those of `on` aren't null. */
	readonly values: Values
	/** The fields that identify an existing record: those of a list in `Model.unique`, in any order. */
	readonly on: readonly string[]
	/** New values for an existing record, without the fields of `on` and of the key. If empty, the record isn't changed. */
	readonly changes: Changes
	/** If an existing record doesn't match, it is neither changed nor returned: the upsert fails with `unique`. */
	readonly where: Condition | undefined
}

/** The record of an upsert. */
export interface Upserted extends Created {
	/** Whether it was created. */
	readonly isNew: boolean
}

/** Conditions on the record that is changed or deleted. */
export interface Guard {
	/** A record that doesn't match is `'missing'`. */
	readonly where: Condition | undefined
	/** A record with another version is `'stale'`. */
	readonly version: string | undefined
}

/** The query of a list. */
export interface ListQuery {
	readonly selection: Selection
	readonly where: Condition | undefined
	/** The last terms are the key's. Empty only if there is no key, and the client asks for no order. */
	readonly order: readonly Order[]
	/** 1 or more. */
	readonly limit: number
	/** 0 if `after` is given. */
	readonly offset: number
	/** Begins after the record with these values, one for each term of the order. */
	readonly after: readonly Value[] | undefined
	/** Whether to count all matching records, including those before `after`. */
	readonly total: boolean
	/** With `total`: the count may stop at the first record beyond this number. @default all are counted */
	readonly maxTotal?: number | undefined
	/**
	 * Maximum size of the page's JSON and `next` together, in UTF-8: a larger page is refused with `too_large`, if possible
	 * before it is built. The record after the page doesn't count. `undefined` for no limit but the store's.
	 */
	readonly maxBytes?: Bytes | undefined
}

/** A page of records. */
export interface Listed {
	/** A JSON array of at most `limit` records. */
	readonly json: string
	/**
	 * The sort values of the last record, one for each term of the order, as a JSON array: with full precision (bigint and
	 * decimal as strings, timestamps with all digits), or the prefix by which the store sorts a long text. `undefined` at the end.
	 */
	readonly next: string | undefined
	/** `undefined` unless the query asks for it. If more than `maxTotal` match, any number above it. */
	readonly total: number | undefined
}

/** A field that records are grouped by. Records with null form a group, too. */
export interface TotalsKey {
	/** The JSON's key. */
	readonly name: string
	/** A field that has an order: not `json`, `bytes` or `other`. */
	readonly field: string
	/** As in `Order`. */
	readonly via?: Order['via']
	/** A part of a `timestamp` in `timeZone`, or of a `date`, which has no `hour`. @default the whole value */
	readonly part?: TimePart | undefined
}

/** The query of totals. Without `by` there is one group, even without records. */
export interface TotalsQuery {
	readonly by: readonly TotalsKey[]
	/** `count` first, then those with the same `op` next to each other. */
	readonly totals: readonly Total[]
	/** The condition that the records match. */
	readonly where: Condition | undefined
	/** The condition that the groups match. */
	readonly having: TotalsCondition | undefined
	/** Has all of `by`. */
	readonly order: readonly TotalsOrder[]
	/** Maximum number of groups in the answer. */
	readonly limit: number
	/** An IANA time zone that `Intl` knows: `Europe/Berlin`, `UTC`. */
	readonly timeZone: string
	/** Maximum size of the JSON in UTF-8, as in `ListQuery`. */
	readonly maxBytes?: Bytes | undefined
}

/**
 * A store of records of one kind. An id is the key as text in its shortest form (digits, lower-case uuid, text as it is,
 * `2026-11-20T13:45:00.123Z` with at least three digits after the second); of several fields, these texts
 * percent-encoded and joined by commas: `7,herb` (see `splitId`). Ids that the key's types can't hold are never passed.
 *
 * @throws ModelError by every method, if the store refuses or can't be reached
 */
export interface Model {
	/** Name for messages to programmers, such as the table's. */
	readonly name: string
	readonly fields: readonly Field[]
	/**
	 * Names of the key's fields, in the order of the primary key; each is an `integer`, `bigint`, `uuid`, `text`, `date` or
	 * `timestamp`. A single one may be given without a list. Empty if records have no key: then only `list` and `count`
	 * are called, and `order` may be empty.
	 */
	readonly key: string | readonly string[]
	/** Whether records can't be changed, as in a view. */
	readonly readOnly: boolean
	/** Why not, and what to do about it: part of the message to a programmer who allows a handler to change them. */
	readonly readOnlyReason?: string | undefined
	/** Whether `create` and `update` take `NOW`. @default false: CRUD passes the time of this process */
	readonly setsNow?: boolean
	/** A page of the matching records. */
	list(query: ListQuery): Promise<Listed>
	/** The number of matching records; of all records if `where` is `undefined`. */
	count(where: Condition | undefined): Promise<number>
	/** The record, if it exists and matches. */
	read(id: string, selection: Selection, where: Condition | undefined): Promise<Found | undefined>
	/**
	 * As `read`; in a transaction, also locks the record until its end against changes, with `deletes` also against new references.
	 * One that the store's user may read but not update isn't locked. @default `read`, for stores whose transactions exclude each other
	 */
	lock?(id: string, selection: Selection, where?: Condition, deletes?: boolean): Promise<Found | undefined>
	/** Reads a record that this transaction has written. @default `read`, if that isn't from a snapshot of the transaction's start */
	readWritten?(id: string, selection: Selection): Promise<Found | undefined>
	/** Creates a record; a field without a value gets its default, or null. */
	create(values: Values, selection: Selection): Promise<Created>
	/** `changes` has at least one field. */
	update(id: string, changes: Changes, selection: Selection, guard: Guard): Promise<Found | Absent>
	/** Deletes a record and returns it as it was. */
	delete(id: string, selection: Selection, guard: Guard): Promise<Found | Absent>
	/** Calls `work` with a model whose changes are committed together, or rolled back if `work` rejects. */
	transaction<T>(work: (model: Model) => Promise<T>): Promise<T>
	/**
	 * Checks that the store responds, for the option `health`; left out if there is nothing to check.
	 *
	 * @param writes whether a handler changes records: then a read-only store, such as a replica, fails
	 * @throws ModelError `unavailable` if it can't be reached
	 */
	check?(writes?: boolean): Promise<void>
	/** The foreign keys of this model that refer to `other`, which may be this model itself. @default none */
	references?(other: Model): readonly Reference[]
	/** Whether conditions and orders may have links to `other`. @default false */
	joins?(other: Model): boolean
	/** Whether selections may have related records of `other`; only if it `joins` it. @default false */
	embeds?(other: Model): boolean
	/**
	 * Runs the query once for each condition, combined with `where` by `and`, in one statement; returns the pages in the order
	 * of the conditions. `maxBytes` limits all pages together. @default `list` is called for each
	 */
	listEach?(query: ListQuery, conditions: readonly Condition[]): Promise<readonly Listed[]>
	/** Totals of the matching records, by group, for the operation `totals` of a `CrudHandler`. @default there are none */
	totals?(query: TotalsQuery): Promise<Totaled>
	/** The fields of each unique constraint that `upsert` can use, including the key's. @default none */
	readonly unique?: readonly (readonly string[])[]
	/** Creates several records, all or none, in the order given. @throws ModelError with the `index` of a refused record */
	createMany?(values: readonly Values[], selection: Selection): Promise<readonly Created[]>
	/** Creates a record, or changes the one with the same values, atomically. @throws TypeError if `on` isn't in `unique` */
	upsert?(upsert: Upsert, selection: Selection): Promise<Upserted>
	/** Whether one transaction can include both models; if one is in a transaction, both must be in the same. @default only itself */
	transactsWith?(other: Model): boolean
	/** As `transaction`, for this model and `others` that it `transactsWith`. */
	transactionWith?<T>(others: readonly Model[], work: (within: Within) => Promise<T>): Promise<T>
	/** Translates an error of the store's driver; `undefined` for any other error. @default none is known */
	failureOf?(error: unknown): ModelError | undefined
	/** What `check` checks. Of several models with the same source, only one is checked. @default the model itself */
	readonly source?: object
}

/** A transaction over several models, for its work. */
export interface Within {
	/** The model within the transaction; one that can't take part is returned as it is. */
	of(model: Model): Model
	/**
	 * The driver's own connection, for SQL by hand: what it changes is committed or rolled back as well. It can't be used
	 * after the transaction. `undefined` if the store has none.
	 */
	readonly connection: unknown
	/** Checks at once what the store would check at the end: deferred constraints. @default there are none */
	checkDeferred?(): Promise<void>
}

/** Why a record wasn't changed or deleted. */
export type Absent = 'missing' | 'stale'
