/**
 * The options of a `CrudHandler<T>`, so that the compiler checks the names of fields in them. Only types, for the constructor in
 * `crud-handler.ts`; `options.ts` says what the options mean.
 */
import type { Model } from '../models/model.ts'
import type { CrudOptions, CrudRules, CrudTotals } from './options.ts'

/**
 * The options of a `CrudHandler<T>`, which can only name fields of `T`. `CrudOptions` if `T` has no known names.
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
