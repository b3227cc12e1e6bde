/** What a `CrudHandler` is told beside its model. Everything is closed until it is named here. */
import type { Bytes } from '../base/time.ts'
import type { StandardSchemaV1 } from '../validate/standard-schema.ts'
import type { Rule } from '../validate/validator.ts'
import type { DatabaseMessages } from './database-messages.ts'
import type { Columns } from './field.ts'

/** What can be done with records; the keys of `access` too. */
export type CrudOperation = 'list' | 'read' | 'create' | 'update' | 'replace' | 'remove'

export const OPERATIONS: readonly CrudOperation[] = ['list', 'read', 'create', 'update', 'replace', 'remove']

/** Rules by field: a list as in `getParams`, or a Standard Schema. */
export interface CrudRules {
	readonly [field: string]: readonly Rule[] | StandardSchemaV1
}

/** Fields are named as clients know them: by the new names where `columns` gives some. */
export interface CrudOptions {
	/**
	 * The fields that are answered, in this order. No default, so that a column which is added to the table
	 * tomorrow isn't published by it; `'all'` is a choice.
	 */
	readonly visible: 'all' | readonly string[]
	/** The fields that can be changed; they may be hidden ones. @default [] */
	readonly updatable?: readonly string[]
	/** The fields that a new record can be given. @default `updatable` */
	readonly creatable?: readonly string[]
	/** The fields that a list can be filtered by, all of them visible. @default `visible` */
	readonly filterable?: readonly string[]
	/** The fields that a list can be sorted by, all of them visible. @default `visible`, where the type has an order */
	readonly sortable?: readonly string[]
	/** The fields of text in which `search` looks, all of them visible. @default [] */
	readonly searchable?: readonly string[]
	/** What is answered; all else is 405. @default ['list', 'read'] */
	readonly allow?: readonly CrudOperation[]
	/** What values must be, beside what their columns demand. @default {} */
	readonly rules?: CrudRules
	/** Other names for clients: `{ createdAt: 'created_at' }`, or `'camelCase'` for all. @default the model's names */
	readonly columns?: Columns
	/** Records of a page where the client doesn't say. @default 25 */
	readonly limit?: number
	/** Most records of a page; who asks for more gets this many. @default 100 */
	readonly maxLimit?: number
	/**
	 * Most bytes of a page's records in JSON: a larger page is 400 `too_large`, and tells the client to ask for fewer
	 * records or fields. From 1 to 268,435,456 (256 MiB). @default 8_388_608 (8 MiB)
	 */
	readonly maxPageBytes?: Bytes
	/**
	 * Most comparisons of a request that look into texts: each `contains`, `startsWith` and `endsWith`, those that ignore
	 * case, and each word of `search` once for each searchable field; more are 400. A database in this process, SQLite or `MemoryModel`, answers
	 * nobody else while it compares. From 1 to 100. @default 10
	 */
	readonly maxTextTerms?: number
	/**
	 * Most values of one list in a query, of `in`, of `nin` and of a repeated `field=value`; more are 400. Lists of
	 * `scope()` have no bound. From 1 to 10,000. @default 100
	 */
	readonly maxIn?: number
	/** Query parameters of others, which are passed over: `['utm_source']`. @default [] */
	readonly ignoreQuery?: readonly string[]
	/**
	 * Errors raised by rules of the database whose text clients may read, by their SQLSTATE: `['P0001']`, or
	 * `{ P0001: true, AB123: 'The stock is too low' }` with the text to send instead. All others are answered
	 * 422 `refused_by_database` without their text. @default []
	 */
	readonly databaseMessages?: DatabaseMessages | undefined
	/**
	 * A field of whole numbers that every change raises by one. With it records have an ETag, and `If-Match`
	 * keeps two people from overwriting each other. @default none
	 */
	readonly version?: string
}
