/**
 * Types of records with related ones: which relations there are, what `fields` and `include` may name, and the record that
 * a call with them resolves with. Dotted names are typed through at most two relations: each level multiplies their number.
 */

/** Without relations. */
export type NoRelations = Readonly<Record<never, never>>

declare const RELATIONS: unique symbol

/** The `meta` of a list within a record. */
export interface RelatedMeta {
	/** Maximum number of related records within each record, as the server applied it. */
	readonly limit: number
	/** The cursor of the next records, for `related(record, name).list()`; null if there are none. */
	readonly next: string | null
	/** How many there are; present if they were counted. */
	readonly total?: number
	/** Present if there are more than `total`. */
	readonly more?: true
}

/**
 * A list within a record. In the relations of a `CrudClient`: a to-many relation, whose records have the relations `R`.
 *
 *     { comments: Many<Comment, { author: Author }> }
 */
export interface Many<T, R = NoRelations> {
	readonly data: T[]
	readonly meta: RelatedMeta
	/** Exists only in the type. */
	readonly [RELATIONS]?: R
}

/** A to-one relation whose record has the relations `R`. Without relations, `Author` is the same as `One<Author>`. */
export interface One<T, R = NoRelations> {
	readonly [RELATIONS]: readonly [T, R]
}

/** The records of a relation. */
export type TargetOf<M> = M extends One<infer T, infer _> ? T : M extends Many<infer T, infer _> ? T : M
/** The relations of those records. */
export type RelationsOf<M> =
	M extends One<infer _, infer R> ? R : M extends Many<infer _, infer R> ? R : NoRelations

/** The names of a record's fields. */
export type FieldName<T> = Extract<keyof T, string>
/** The names of relations. */
export type RelationName<R> = Extract<keyof R, string>

type Dotted<R> = { [K in RelationName<R>]: `${K}.${FieldName<TargetOf<R[K]>>}` }[RelationName<R>]
type ToOne<R> = Pick<R, { [K in keyof R]: R[K] extends Many<unknown, unknown> ? never : K }[keyof R]>

/** A field of related records: `author.name`, `comments.author.name`. */
export type RelatedField<R> =
	| Dotted<R>
	| { [K in RelationName<R>]: `${K}.${Dotted<RelationsOf<R[K]>>}` }[RelationName<R>]

/** A field of the one related record. */
export type ToOneField<R> =
	| Dotted<ToOne<R>>
	| {
			[K in RelationName<ToOne<R>>]: `${K}.${Dotted<ToOne<RelationsOf<R[K]>>>}`
	  }[RelationName<ToOne<R>>]

/** The type of a field of related records. */
export type RelatedValue<R, P> = P extends `${infer K}.${infer Rest}`
	? K extends keyof R
		? Rest extends keyof TargetOf<R[K]>
			? TargetOf<R[K]>[Rest]
			: RelatedValue<RelationsOf<R[K]>, Rest>
		: never
	: never

/** A relation: `author`, `comments.author`. */
export type RelationPath<R> = {
	[K in RelationName<R>]: K | `${K}.${RelationName<RelationsOf<R[K]>>}`
}[RelationName<R>]

/** What `fields` may name: `title`, `author`, `author.name`. */
export type FieldPath<T, R = NoRelations> = FieldName<T> | RelationPath<R> | RelatedField<R>

type Head<P extends string> = P extends `${infer K}.${string}` ? K : P
type Rest<P extends string, K extends string> = P extends `${K}.${infer Rest}` ? Rest : never

/** The relations that an include names. */
type PathsIn<I> = I extends readonly (infer P)[]
	? Extract<P, string>
	: {
			[K in RelationName<I>]: K | (I[K] extends { readonly include: infer J } ? `${K}.${PathsIn<J>}` : never)
		}[RelationName<I>]

/** The related fields that an include names. */
type FieldsIn<I> = I extends readonly unknown[]
	? never
	: {
			[K in RelationName<I>]:
				| (I[K] extends { readonly fields: readonly (infer F)[] } ? `${K}.${Extract<F, string>}` : never)
				| (I[K] extends { readonly include: infer J } ? `${K}.${FieldsIn<J>}` : never)
		}[RelationName<I>]

/** A record with the fields `F`, and the relations that `F` and the paths `P` name. */
type Shape<T, R, F extends string, P extends string> = [Extract<keyof R, Head<F | P>>] extends [never]
	? Fields<T, F>
	: Fields<T, F> & {
			[K in Extract<RelationName<R>, Head<F | P>>]: Member<
				R[K],
				Rest<F, K>,
				Rest<P, K>,
				K extends F | Head<P> ? true : false
			>
		}

type Fields<T, F extends string> = [FieldName<T>] extends [F] ? T : Pick<T, F & keyof T>

/** @template Whole whether the relation itself is named, and not only fields of its records */
type Member<M, F extends string, P extends string, Whole> =
	M extends Many<infer T, infer R>
		? Many<Related<T, R, F, P, Whole>>
		: Related<TargetOf<M>, RelationsOf<M>, F, P, Whole> | null

type Related<T, R, F extends string, P extends string, Whole> = Shape<
	T,
	R,
	[Extract<F, keyof T>, Whole] extends [never, true] ? F | FieldName<T> : F,
	P
>

/** Whether the type of an include is too wide to tell which relations it names, as that of a variable may be. */
export type IsWide<I> = true extends (
	I extends readonly unknown[]
		? number extends I['length']
			? true
			: false
		: NoRelations extends I
			? true
			: false
)
	? true
	: false

/**
 * The record that a call with the fields `F` and the include `I` resolves with. If the type of the include doesn't say
 * which relations it names, each of them may be present or not.
 */
export type Selected<T, R, F extends string, I> = [keyof R] extends [never]
	? Fields<T, F>
	: IsWide<I> extends true
		? Shape<T, R, F, never> & Partial<Shape<NoRelations, R, never, RelationName<R>>>
		: Shape<T, R, F | FieldsIn<I>, PathsIn<I>>
