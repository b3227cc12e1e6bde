/** What can be asked of a list, typed by the fields of its records, and what is answered. */
import type { PageMeta } from '../wire/list.ts'

/** The names of a record's fields. */
export type FieldName<T> = Extract<keyof T, string>

/** What a field can be compared with: dates stand for their text on the wire, bigints for their digits. */
export type Scalar<V> = unknown extends V
	? string | number | bigint | boolean | Date
	: V extends string
		? V | Date
		: V extends number
			? V | bigint
			: V extends boolean
				? V
				: never

/** Several comparisons of one field: all of them must hold. */
export interface Operators<V> {
	readonly eq?: Scalar<V> | null
	/** Not equal; records whose field is null don't fit. `ne: null` finds those that have a value. */
	readonly ne?: Scalar<V> | null
	readonly gt?: Scalar<V>
	readonly gte?: Scalar<V>
	readonly lt?: Scalar<V>
	readonly lte?: Scalar<V>
	/** One of several. With null among them, write the array without `in`. */
	readonly in?: readonly Scalar<V>[]
	/** None of several; records whose field is null don't fit. */
	readonly nin?: readonly Scalar<V>[]
	/** Both ends included. */
	readonly between?: readonly [Scalar<V>, Scalar<V>]
	readonly contains?: string
	readonly startsWith?: string
	readonly endsWith?: string
	/** The same without regard to case; of texts. */
	readonly ieq?: string
	readonly icontains?: string
	readonly istartsWith?: string
	readonly iendsWith?: string
	/** True finds the records whose field is null, false the others. */
	readonly null?: boolean
}

/** A value, null, one of several values, or operators. */
export type Match<V> = Scalar<V> | null | readonly (Scalar<V> | null)[] | Operators<V>

/**
 * Conditions by field name: all of them must hold.
 *
 *     { title: 'Thyme', age: { gte: 3 }, tag: ['a', 'b'], deleted: null }
 */
export type Where<T> = { readonly [K in FieldName<T>]?: Match<T[K]> }

/**
 * Conditions with alternatives: `{ or: [{ tag: 'a' }, { not: { age: { lt: 3 } } }] }`. Records of any fields
 * may have one called `or`, so that theirs can't be typed.
 */
export type Filter<T> = string extends keyof T ? Readonly<Record<string, unknown>> : Where<T> & Groups<T>

interface Groups<T> {
	readonly and?: readonly Filter<T>[]
	readonly or?: readonly Filter<T>[]
	readonly not?: Filter<T>
}

/** `'title'`, or `'-title'` for the other direction. */
export type SortTerm<T> = FieldName<T> | `-${FieldName<T>}`

/** Which records are meant. */
export interface SelectionQuery<T> {
	readonly where?: Where<T> | undefined
	/** Holds beside `where`. */
	readonly filter?: Filter<T> | undefined
	/** Words, each of which must be in at least one searchable field; case is ignored. */
	readonly search?: string | undefined
}

export interface ListQuery<T, F extends FieldName<T> = FieldName<T>> extends SelectionQuery<T> {
	/** Most records of a page. The server has a default and an upper bound; `meta.limit` says which it took. */
	readonly limit?: number | undefined
	/** How many records are left out at the beginning. Not together with `cursor`. */
	readonly offset?: number | undefined
	/** `meta.next` of the page before; the same sort and conditions must be given again. */
	readonly cursor?: string | null | undefined
	/** The key's order, where nothing is given. */
	readonly sort?: SortTerm<T> | readonly SortTerm<T>[] | undefined
	/** The fields to send; all that are visible, where nothing is given. */
	readonly fields?: readonly F[] | undefined
	/** Whether `meta.total` is counted. */
	readonly count?: boolean | undefined
}

/** A page of a list, in the words of the wire: `{"data":[…],"meta":{…}}`. */
export interface Page<T> {
	readonly data: T[]
	readonly meta: PageMeta
}
