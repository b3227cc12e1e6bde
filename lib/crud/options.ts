/** The options of a `CrudHandler`: see `read-options.ts` for their checks. Nothing is exposed unless an option names it. */
import type { Bytes } from '../base/time.ts'
import type { Model } from '../models/model.ts'
import type { StandardSchemaV1 } from '../validate/standard-schema.ts'
import type { Rule } from '../validate/validator.ts'

/** An operation on records; also a key of `access`. */
export type CrudOperation =
	| 'list'
	| 'read'
	| 'create'
	| 'update'
	| 'replace'
	| 'remove'
	| 'restore'
	| 'totals'
	| 'createMany'
	| 'updateMany'
	| 'removeMany'
	| 'upsert'
	| 'export'
	| 'import'

export const OPERATIONS: readonly CrudOperation[] = [
	...(['list', 'read', 'create', 'update', 'replace', 'remove', 'restore', 'totals'] as const),
	...(['createMany', 'updateMany', 'removeMany', 'upsert', 'export', 'import'] as const),
]

/** Those that change nothing. */
export const READS: readonly CrudOperation[] = ['list', 'read', 'totals', 'export']

/** The data providers whose requests a handler also serves: see `dialect.ts`. */
export type CrudDialect = 'simple-rest' | 'json-server'

/** Rules by field: a list as in `getParams`, or a Standard Schema. */
export interface CrudRules {
	readonly [field: string]: readonly Rule[] | StandardSchemaV1
}

/**
 * Names of columns for clients: the column for each new name, or `'camelCase'` to convert all (`created_at` →
 * `createdAt`).
 */
export type Columns = 'camelCase' | Readonly<Record<string, string>>

/**
 * Database errors whose text clients may see: a list of codes, or for each code `true`, or the text to send instead. A code
 * is a SQLSTATE (`P0001` of PostgreSQL's `raise exception`, `45000` of MariaDB's and MySQL's `signal`), or SQLite's
 * `SQLITE_CONSTRAINT_TRIGGER`.
 */
export type DatabaseMessages = readonly string[] | { readonly [code: string]: true | string }

/** All options use the names for clients: if `columns` renames a field, its new name. */
export interface CrudOptions {
	/**
	 * The fields in responses, in this order. There is no default: it would publish columns that are added to the table
	 * later. `'all'` does so on purpose.
	 */
	readonly visible: 'all' | readonly string[]
	/** The fields that clients can change; they may be hidden. @default [] */
	readonly updatable?: readonly string[]
	/** The fields that clients can set on a new record. @default `updatable` */
	readonly creatable?: readonly string[]
	/** The fields that a list can be filtered by; they must be visible. @default `visible` */
	readonly filterable?: readonly string[]
	/**
	 * The fields that a list can be sorted by; they must be visible. @default those of `visible` whose type has an order
	 */
	readonly sortable?: readonly string[]
	/**
	 * The order of lists, also of related records, if the client gives none; written as in the query: `['-created', 'title']`. Its
	 * fields must be in `sortable`. @default [] by the key
	 */
	readonly sort?: readonly string[]
	/** The text fields that `search` looks in; they must be visible. @default [] */
	readonly searchable?: readonly string[]
	/** The operations that are served; others are 405. @default ['list', 'read'] */
	readonly allow?: readonly CrudOperation[]
	/** Rules for values, in addition to their columns' constraints. @default {} */
	readonly rules?: CrudRules
	/** Other names for clients: `{ createdAt: 'created_at' }`, or `'camelCase'` for all. @default the model's names */
	readonly columns?: Columns
	/**
	 * Also serves the requests of data providers made for other servers: `'simple-rest'` those of ra-data-simple-rest,
	 * `'json-server'` those of ra-data-json-server and @refinedev/simple-rest. Answers have no envelope then, PUT changes
	 * the fields it is given (the operation `update`), and a list without a page has up to `maxLimit` records. Records must
	 * have their key as `id`. See docs/dialects.md. @default none
	 */
	readonly dialect?: CrudDialect
	/** Number of records in a page if the client gives no `limit`. @default 25 */
	readonly limit?: number
	/** Maximum number of records in a page; a client that asks for more gets this many. @default 100 */
	readonly maxLimit?: number
	/**
	 * Maximum size of a page's records as JSON. A larger page is 400 `too_large`, whose message says to ask for fewer
	 * records or fields. From 1 to 268,435,456 (256 MiB). @default 8_388_608 (8 MiB)
	 */
	readonly maxPageBytes?: Bytes
	/**
	 * Maximum number of text comparisons in a request: each `contains`, `startsWith` and `endsWith`, each
	 * case-insensitive comparison, and each word of `search` once per searchable field. More are 400, because an
	 * in-process store (SQLite, `MemoryModel`) blocks the event loop while it compares. From 1 to 100. @default 10
	 */
	readonly maxTextTerms?: number
	/**
	 * Maximum number of values in one list of a query: in `in`, `nin` or a repeated `field=value`; more are 400. Lists
	 * returned by `scope()` are not limited. From 1 to 10,000. @default 100
	 */
	readonly maxIn?: number
	/**
	 * Maximum number of records in a request of `createMany`, `updateMany`, `removeMany` or `upsert`; more are 422, or 409 for
	 * `removeMany`. From 1 to 10,000. @default 100
	 */
	readonly maxBatch?: number
	/** Maximum number of records in an `import`; more are 422. From 1 to 10,000,000. @default 10_000 */
	readonly maxImport?: number
	/**
	 * Maximum number of exports that run at once, and of imports, in this process; more are 503. One caller may run two of
	 * each; more are 429. From 1 to 1,000. @default 10
	 */
	readonly maxTransfers?: number
	/** The unique fields that `upsert` finds records by, each a field or several: `['slug', ['day', 'room']]`. @default [] */
	readonly upsertOn?: readonly (string | readonly string[])[]
	/** Query parameters that are ignored: `['utm_source']`. @default [] */
	readonly ignoreQuery?: readonly string[]
	/**
	 * The SQLSTATEs of errors whose text clients may see, such as those that triggers raise: `['P0001']`, or, with the
	 * text to send instead, `{ P0001: true, AB123: 'The stock is too low' }`. All others are 422 `refused_by_database`
	 * without their text. @default []
	 */
	readonly databaseMessages?: DatabaseMessages | undefined
	/**
	 * An integer field that every change increments, for optimistic locking: records get an ETag, and `If-Match` keeps two
	 * clients from overwriting each other's changes. @default none
	 */
	readonly version?: string
	/** A `timestamp` field that every change sets to the database's time. Clients can't write it. @default none */
	readonly touch?: string
	/**
	 * A nullable `timestamp` field that `DELETE` sets, instead of deleting the record. The record is then 404, also through
	 * relations, in counts and totals. With `restore` in `allow`, `?deleted=only` reads deleted records, and
	 * `POST /<id>/restore` restores one. Clients can't write the field. @default none
	 */
	readonly softDelete?: string
	/**
	 * Other handlers whose records belong to these, by the names that clients use:
	 *
	 *     relations: { author: { to: authors }, comments: { to: comments, limit: 5 }, tags: { to: tags, through: articleTag } }
	 *
	 * Through a relation, a client gets only what the other handler would let it read.
	 *
	 * @default {}
	 */
	readonly relations?: Readonly<Record<string, CrudRelation>>
	/**
	 * A model that each change is recorded in, within the same transaction: who, when, operation, and the changed fields before
	 * and after. It has the fields `who` (null if unknown), `at`, `operation`, `record` (the id), `before` and `after` (JSON,
	 * null if there is no record then), and, if several models share it, `resource`. `{ to: model, fields: ['title'] }` records
	 * these fields, hidden ones too. @default none; `fields`: the visible ones
	 */
	readonly audit?: AuditOption
	/** Maximum depth of relations in a request; `comments.author` has 2. From 1 to 4. @default 2 */
	readonly includeDepth?: number
	/**
	 * What `GET /totals` groups by and adds up, if `totals` is in `allow`: see docs/totals.md.
	 *
	 *     totals: { by: ['status', 'created', 'author.name'], of: ['amount'] }
	 *
	 * @default none
	 */
	readonly totals?: CrudTotals
}

/** The fields that totals may be grouped by, and those that are added up. */
export interface CrudTotals {
	/**
	 * The fields that clients may group by; they must be visible. `author.name` is a field of a related record: the relation must
	 * be to one, and the field visible and filterable there.
	 *
	 * @default []
	 */
	readonly by?: readonly string[]
	/**
	 * The fields that have totals: numbers have a sum, average, minimum and maximum; texts, dates and times only the latter two.
	 * They must be visible.
	 *
	 * @default []
	 */
	readonly of?: readonly string[]
	/** Maximum number of groups. More are 400, unless the client asks for the first ones. From 1 to 100,000. @default 1_000 */
	readonly maxGroups?: number
}

/** A relation to the records of another `CrudHandler`, or of the same one. */
export interface CrudRelation {
	/** The other handler; a function that returns it if it is created later. */
	readonly to: RelatedHandler | (() => RelatedHandler)
	/**
	 * The field, or the fields, that refer to the other record's key: in these records, by the name for clients; in the other
	 * handler's records, by the name there; or, with `through`, in the junction records.
	 *
	 * @default the fields of the foreign key between the two models
	 */
	readonly by?: string | readonly string[]
	/**
	 * Whether the foreign key is in the other records, so that there may be many of them. Only needed if both have one, as in
	 * a tree: `children: { to: () => articles, many: true }`. @default by the foreign keys; false within one model
	 */
	readonly many?: boolean
	/** The model of the junction records, for many to many: with a foreign key to each side. @default none */
	readonly through?: Model
	/** Number of related records within each record, if the client gives no limit. @default the other handler's `limit` */
	readonly limit?: number
	/** Maximum number of related records within each record. @default the other handler's `maxLimit` */
	readonly maxLimit?: number
	/**
	 * `['tie']` lets clients tie and untie records, many to many: `PUT /7/tags/3` and `DELETE /7/tags/3`. `['create']` lets them
	 * create records with related ones, in one transaction: `POST /` with `"comments":[{"text":"y"}]` within. @default []
	 */
	readonly writable?: readonly ('tie' | 'create')[]
}

/** A model that changes are recorded in, and the fields that are recorded. */
export type AuditOption = Model | { readonly to: Model; readonly fields?: readonly string[] | undefined }

/** A `CrudHandler`. */
export interface RelatedHandler {
	readonly model: Model
}

/**
 * The options of a `CrudHandler<T>`, which can only name fields of `T`: the compiler checks them. `CrudOptions` if `T` has no known names.
 *
 *     const options: CrudOptionsOf<Db['article']> = { visible: ['id', 'title'], updatable: ['title'] }
 */
// Without `infer`, TypeScript would infer T from the names in the options if none is given.
export type CrudOptionsOf<T extends object> = T extends infer R extends object
	? [keyof R] extends [never]
		? CrudOptions
		: string extends keyof R
			? CrudOptions
			: CrudNamedOptions<R>
	: never

/** The name of a field of `T`; any text if `T` has no known names. */
export type CrudFieldName<T> = [keyof T] extends [never] ? string : keyof T & string

/**
 * The names of the fields whose values are a `V`, or undefined. Conditional, so that compiler errors list the names instead of
 * `keyof Article`.
 */
type NameOf<T, V = unknown> = T extends unknown
	? { [K in keyof T]-?: T[K] extends V | undefined ? K : never }[keyof T] & string
	: never

/** The names of the fields that are a `V` or null. */
type NullableOf<T, V> = T extends unknown
	? {
			[K in keyof T]-?: null extends T[K] ? (T[K] extends V | null | undefined ? K : never) : never
		}[keyof T] &
			string
	: never

/**
 * A value for some of the fields. Conditional, because a mapped type over a generic `T` isn't assignable to the index signatures
 * of `CrudOptions`.
 */
type ByName<T extends object, V> = T extends infer R extends object
	? [keyof R] extends [never]
		? { readonly [name: string]: V }
		: { readonly [K in keyof R]?: V }
	: never

/** `CrudOptions` that name fields of `T`, as clients see them. */
export interface CrudNamedOptions<T extends object> extends CrudOptions {
	readonly visible: 'all' | readonly NameOf<T>[]
	readonly updatable?: readonly NameOf<T>[]
	readonly creatable?: readonly NameOf<T>[]
	readonly filterable?: readonly NameOf<T>[]
	readonly sortable?: readonly NameOf<T>[]
	readonly sort?: readonly (NameOf<T> | `-${NameOf<T>}`)[]
	readonly searchable?: readonly NameOf<T, string | null>[]
	readonly rules?: ByName<T, CrudRules[string]>
	readonly columns?: 'camelCase' | ByName<T, string>
	readonly upsertOn?: readonly (NameOf<T> | readonly NameOf<T>[])[]
	// A bigint is a string with `bigint: 'string'` of its model.
	readonly version?: NameOf<T, number | string>
	readonly touch?: NameOf<T, string | null>
	readonly softDelete?: NullableOf<T, string>
	readonly audit?: Model | { readonly to: Model; readonly fields?: readonly NameOf<T>[] | undefined }
	readonly totals?: CrudNamedTotals<T>
}

/** `CrudTotals` of fields of `T`, and in `by` of related records: `author.name`. */
export interface CrudNamedTotals<T> extends CrudTotals {
	readonly by?: readonly (NameOf<T> | `${string}.${string}`)[]
	readonly of?: readonly NameOf<T>[]
}
