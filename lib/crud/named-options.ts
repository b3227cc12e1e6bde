/**
 * The options of a `CrudHandler` whose records have a known type, as the compiler checks them: types alone, for the
 * constructor in `crud-handler.ts`. What options mean, and how they are read, is in `options.ts`.
 */
import type { Model } from '../models/model.ts'
import type { CrudOptions, CrudRules, CrudTotals } from './options.ts'

/**
 * The options of a `CrudHandler<T>`, in which only the names of `T`'s fields are names of fields. `CrudOptions` if `T` says
 * nothing of names.
 *
 *     const options: CrudOptionsOf<Db['article']> = { visible: ['id', 'title'], updatable: ['title'] }
 */
// Without `infer`, TypeScript would infer a T of the names in the options where none is given.
export type CrudOptionsOf<T extends object> = T extends infer R extends object
	? [keyof R] extends [never]
		? CrudOptions
		: string extends keyof R
			? CrudOptions
			: CrudNamedOptions<R>
	: never

/** The name of a field of `T`; any text if `T` says nothing of names. */
export type CrudFieldName<T> = [keyof T] extends [never] ? string : keyof T & string

/**
 * The names of the fields whose values fit `V`, or are absent. Conditional, because errors of the compiler then list the names,
 * and not `keyof Article`.
 */
type NameOf<T, V = unknown> = T extends unknown
	? { [K in keyof T]-?: T[K] extends V | undefined ? K : never }[keyof T] & string
	: never

/** The names of those that may be null. */
type NullableOf<T, V> = T extends unknown
	? {
			[K in keyof T]-?: null extends T[K] ? (T[K] extends V | null | undefined ? K : never) : never
		}[keyof T] &
			string
	: never

/**
 * A value for some of the fields. Conditional, because `CrudNamedOptions` of an unknown `T` is then compared with
 * `CrudOptions` as that of any object.
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
