/** Types of the queries of `CrudClient`, and of the pages that it returns. `list-query.ts` encodes them. */
import type { PageMeta } from '../wire/list.ts'
import type {
	FieldName,
	FieldPath,
	IsWide,
	Many,
	NoRelations,
	RelatedField,
	RelatedValue,
	RelationName,
	RelationPath,
	RelationsOf,
	TargetOf,
	ToOneField,
} from './record-types.ts'

/** Values that a field can be compared with. A Date is sent as its text, a bigint as its digits. */
export type Scalar<V> = unknown extends V
	? string | number | bigint | boolean | Date
	: V extends string
		? V | Date
		: V extends number
			? V | bigint
			: V extends boolean
				? V
				: never

/** Comparisons of one field, all of which must hold. */
export interface Operators<V> {
	readonly eq?: Scalar<V> | null
	/** Not equal. Records whose field is null don't match; `ne: null` matches records whose field isn't null. */
	readonly ne?: Scalar<V> | null
	readonly gt?: Scalar<V>
	readonly gte?: Scalar<V>
	readonly lt?: Scalar<V>
	readonly lte?: Scalar<V>
	/** One of these values. If null is one of them, write the array without `in`: `tag: ['a', null]`. */
	readonly in?: readonly Scalar<V>[]
	/** None of these values. Records whose field is null don't match. */
	readonly nin?: readonly Scalar<V>[]
	/** From the first value to the second, both included. */
	readonly between?: readonly [Scalar<V>, Scalar<V>]
	readonly contains?: string
	readonly startsWith?: string
	readonly endsWith?: string
	/** `ieq` and so on: the same comparisons of texts, ignoring case. */
	readonly ieq?: string
	readonly icontains?: string
	readonly istartsWith?: string
	readonly iendsWith?: string
	/** `true` matches records whose field is null, `false` the others. */
	readonly null?: boolean
}

/** A value, null, one of several values, or operators. */
export type Match<V> = Scalar<V> | null | readonly (Scalar<V> | null)[] | Operators<V>

/**
 * Conditions by field name, all of which must hold. Those on fields of a relation are about the related record; of many
 * related records, one must match them all.
 *
 *     { title: 'Thyme', age: { gte: 3 }, tag: ['a', 'b'], deleted: null, 'author.name': 'Ada' }
 */
export type Where<T, R = NoRelations> = { readonly [K in FieldName<T>]?: Match<T[K]> } & {
	readonly [P in RelatedField<R>]?: Match<RelatedValue<R, P>>
}

/**
 * Conditions with alternatives: `{ or: [{ tag: 'a' }, { not: { age: { lt: 3 } } }] }`, and on related records:
 * `{ author: { name: 'Ada' }, comments: { none: { spam: true }, count: { gte: 3 } } }`. Untyped for records with arbitrary
 * fields, which may have one called `or`.
 */
export type Filter<T, R = NoRelations> = string extends keyof T
	? Readonly<Record<string, unknown>>
	: Where<T, R> & Groups<T, R> & { readonly [K in RelationName<R>]?: RelatedFilter<R[K]> }

type Groups<T, R> = {
	readonly and?: readonly Filter<T, R>[]
	readonly or?: readonly Filter<T, R>[]
	readonly not?: Filter<T, R>
}

/** A condition on a relation: for to-one, a filter, or null for no record; for to-many, quantifiers. */
type RelatedFilter<M> =
	M extends Many<infer T, infer R> ? Quantified<T, R> : Filter<TargetOf<M>, RelationsOf<M>> | null

/** Conditions on a to-many relation, all of which must hold. */
export interface Quantified<T, R = NoRelations> {
	/** At least one record matches. */
	readonly some?: Filter<T, R>
	/** No record matches. */
	readonly none?: Filter<T, R>
	/** All records match, also if there are none. */
	readonly every?: Filter<T, R>
	/** The number of related records. */
	readonly count?: number | { readonly [K in 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte']?: number }
}

/** `'title'`, `'author.name'` through a relation to one; `'-title'` for descending order. */
export type SortTerm<T, R = NoRelations> =
	| FieldName<T>
	| `-${FieldName<T>}`
	| ToOneField<R>
	| `-${ToOneField<R>}`

/** Selects records. */
export interface SelectionQuery<T, R = NoRelations> {
	readonly where?: Where<T, R> | undefined
	/** Further conditions, combined with `where` by AND. */
	readonly filter?: Filter<T, R> | undefined
	/** Words, each of which must be in at least one searchable field; case is ignored. */
	readonly search?: string | undefined
	/** `'only'` for deleted records, if the server keeps them and the caller may restore them. @default the other records */
	readonly deleted?: 'only' | undefined
}

/**
 * Relations to include in each record: names, `['author', 'comments.author']`, or settings by name,
 * `{ author: true, comments: { limit: 3, sort: '-id', include: ['author'] } }`. Untyped for records with arbitrary fields.
 */
export type Include<T, R = NoRelations> = string extends keyof T
	? readonly string[] | Readonly<Record<string, unknown>>
	: [keyof R] extends [never]
		? never
		: readonly RelationPath<R>[] | { readonly [K in RelationName<R>]?: true | IncludeSettings<R[K]> }

type IncludeSettings<M> =
	M extends Many<infer T, infer R> ? IncludeMany<T, R> : IncludeOne<TargetOf<M>, RelationsOf<M>>

/** Settings for including a to-one relation. */
export interface IncludeOne<T, R = NoRelations> {
	/** @default all that are visible */
	readonly fields?: readonly FieldPath<T, R>[]
	/** Relations of the related record. @default none */
	readonly include?: Include<T, R>
}

/** Settings for including a to-many relation. */
export interface IncludeMany<T, R = NoRelations> extends IncludeOne<T, R> {
	/** Maximum number within each record. @default the server's for this relation */
	readonly limit?: number
	/** @default the server's own order */
	readonly sort?: SortTerm<T, R> | readonly SortTerm<T, R>[]
	readonly filter?: Filter<T, R>
	/** Whether to count the related records that match, as `meta.total`; a number counts only up to it. @default false */
	readonly count?: boolean | number
}

/**
 * Gives names in `I`, at any depth, that `Known` doesn't have the type `never`: TypeScript doesn't check for excess properties
 * where it infers the type. What the type `Known` doesn't say may be anything.
 */
type Checked<I, Known> = unknown extends Known
	? unknown
	: I extends readonly unknown[]
		? { readonly [At in keyof I]: Checked<I[At], Extract<Known, readonly unknown[]>[number]> }
		: I extends object
			? { readonly [K in keyof I]: K extends NamesIn<Known> ? Checked<I[K], MemberOf<Known, K>> : never }
			: unknown

/** The names in any type of a union. */
type NamesIn<Known> = Known extends object ? keyof Known : never
type MemberOf<Known, K> = Known extends object ? (K extends keyof Known ? Known[K] : never) : never

/** The fields and relations that a call returns of each record. */
export interface Selection<T, R, F extends FieldPath<T, R>, I extends Include<T, R>> {
	/** The fields to get, also of related records: `['title', 'author.name']`. @default all that are visible */
	readonly fields?: readonly F[] | undefined
	/** The related records to get within each record. @default none */
	readonly include?: (I & (IsWide<I> extends true ? unknown : Checked<I, Include<T, R>>)) | undefined
}

export interface ListQuery<
	T,
	R = NoRelations,
	F extends FieldPath<T, R> = FieldPath<T, R>,
	I extends Include<T, R> = Include<T, R>,
> extends SelectionQuery<T, R>,
		Selection<T, R, F, I> {
	/**
	 * Maximum number of records on a page. The server has a default and a maximum; `meta.limit` is the limit that it
	 * applied.
	 */
	readonly limit?: number | undefined
	/** How many records to skip. Not together with `cursor`. */
	readonly offset?: number | undefined
	/** `meta.next` of the previous page; sort and conditions must be the same. */
	readonly cursor?: string | null | undefined
	/** The fields to sort by. @default the server's own order: by the key, unless its handler has another */
	readonly sort?: SortTerm<T, R> | readonly SortTerm<T, R>[] | undefined
	/**
	 * Whether to count the matching records, as `meta.total`; a number counts only up to it, and `meta.more` says whether
	 * there are more. @default false
	 */
	readonly count?: boolean | number | undefined
}

/** A page of a list, as it is sent: `{"data":[…],"meta":{…}}`. */
export interface Page<T> {
	readonly data: T[]
	readonly meta: PageMeta
}
