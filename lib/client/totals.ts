/** Totals by a `CrudClient`: the types of the query and of the groups, and the request. */
import { TOTALS_PARAMETERS } from '../wire/list.ts'
import type { Call } from './answer.ts'
import { encodeParameters } from './list-query.ts'
import type { SelectionQuery } from './query-types.ts'
import type { FieldName, NoRelations, RelatedValue, ToOneField } from './record-types.ts'
import { checkNames } from './settings.ts'

/** A part of a time: `2026`, `2026-Q4`, `2026-11`, `2026-W47`, `2026-11-20`, `2026-11-20T13`. */
export type TimePart = 'year' | 'quarter' | 'month' | 'week' | 'day' | 'hour'

type KeyField<T, R> = FieldName<T> | ToOneField<R>

/** What records are grouped by: `status`, `created:month`, `author.name`. */
export type TotalsKey<T, R = NoRelations> = KeyField<T, R> | `${KeyField<T, R>}:${TimePart}`

/** Comparisons of a total, all of which must hold. */
export interface TotalOperators {
	readonly eq?: string | number | bigint | null
	readonly ne?: string | number | bigint | null
	readonly gt?: string | number | bigint
	readonly gte?: string | number | bigint
	readonly lt?: string | number | bigint
	readonly lte?: string | number | bigint
	/** `true` matches groups whose total is null, `false` the others. */
	readonly null?: boolean
}

/** Conditions on groups, all of which must hold: `{ count: { gt: 1 }, 'sum.amount': { gte: '100' } }`. */
export type Having<Name extends string = string> = {
	readonly [K in Name]?: TotalOperators | string | number | bigint | null
} & {
	readonly and?: readonly Having<Name>[]
	readonly or?: readonly Having<Name>[]
	readonly not?: Having<Name>
}

/** The names of the requested totals. */
type TotalName<Sum extends string, Avg extends string, Min extends string, Max extends string> =
	| 'count'
	| `sum.${Sum}`
	| `avg.${Avg}`
	| `min.${Min}`
	| `max.${Max}`

/** The name of a key in a group: `created` for `created:month`. */
type KeyName<K> = K extends `${infer Name}:${TimePart}` ? Name : K

/** Which records are added up, and how they are grouped. */
export interface TotalsQuery<
	T,
	R = NoRelations,
	By extends string = TotalsKey<T, R>,
	Sum extends string = FieldName<T>,
	Avg extends string = FieldName<T>,
	Min extends string = FieldName<T>,
	Max extends string = FieldName<T>,
	Count extends boolean = boolean,
> extends SelectionQuery<T, R> {
	/** @default one group of all records */
	readonly by?: readonly By[] | undefined
	/** The fields to add up. Sums of decimals and integers are exact. */
	readonly sum?: readonly Sum[] | undefined
	/** Averages. For decimals and integers they are strings, with six more decimal places than the sum. */
	readonly avg?: readonly Avg[] | undefined
	readonly min?: readonly Min[] | undefined
	readonly max?: readonly Max[] | undefined
	/** Whether to count the records of each group. @default false */
	readonly count?: Count | undefined
	/** Conditions on groups; only on totals that the query requests. @default all groups */
	readonly having?: Having<NoInfer<TotalName<Sum, Avg, Min, Max>>> | undefined
	/** `'-sum.amount'` for descending order. @default the order of `by` */
	readonly sort?: readonly NoInfer<SortName<KeyName<By> | TotalName<Sum, Avg, Min, Max>>>[] | undefined
	/** Maximum number of groups. Without it, more groups than the server's maximum are an error. */
	readonly limit?: number | undefined
	/** The time zone of parts of times, such as `Europe/Berlin`. @default 'UTC' */
	readonly tz?: string | undefined
}

type SortName<Name> = Name extends string ? Name | `-${Name}` : never

type KeyValue<T, R, K> = K extends `${infer Name}:${TimePart}`
	? string | Extract<Whole<T, R, Name>, null>
	: Whole<T, R, K>

/** The type of a key's values; with null for a related record's field, because there may be no record. */
type Whole<T, R, K> = K extends keyof T ? T[K] : RelatedValue<R, K> | null

type Values<T, Op extends string, Name extends string, Average> = [Name] extends [never]
	? unknown
	: {
			readonly [O in Op]: {
				readonly [K in Name]: K extends keyof T ? (Average extends true ? Mean<T[K]> : T[K] | null) : never
			}
		}

/** The average of integers is a string. */
type Mean<V> = NonNullable<V> extends string ? string | null : string | number | null

/** A group: its keys, and its totals by function. */
export type TotalsGroup<
	T,
	R,
	By extends string,
	Sum extends string,
	Avg extends string,
	Min extends string,
	Max extends string,
	Count,
> = { readonly [K in By as Extract<KeyName<K>, string>]: KeyValue<T, R, K> } & ([Count] extends [true]
	? { readonly count: number }
	: unknown) &
	Values<T, 'sum', Sum, false> &
	Values<T, 'avg', Avg, true> &
	Values<T, 'min', Min, false> &
	Values<T, 'max', Max, false>

/** A `TotalsQuery` for records of any type. */
interface AnyTotals {
	readonly where?: object | undefined
	readonly filter?: unknown
	readonly count?: boolean | undefined
	readonly having?: unknown
}

/**
 * The request for totals.
 *
 *     GET /blog/article/totals?by=status&count=exact&having={"count":{"gt":1}}
 *
 * @throws TypeError as `encodeQuery` does
 */
export function encodeTotals(collection: string, query: AnyTotals): Call {
	checkNames('totals', query, ['where', ...TOTALS_PARAMETERS])
	const others = TOTALS_PARAMETERS.flatMap((name): [string, unknown][] => {
		const value: unknown = name === 'count' ? query.count && 'exact' : Reflect.get(query, name)
		if (name === 'filter' || value === undefined || value === false) return []
		if (name === 'having') return [[name, JSON.parse(JSON.stringify(value, digits))]]
		return Array.isArray(value) && value.length === 0 ? [] : [[name, String(value)]]
	})
	return encodeParameters(`${collection}/totals`, others, query, TOTALS_PARAMETERS)
}

/** JSON has no bigint. */
function digits(_key: string, value: unknown): unknown {
	return typeof value === 'bigint' ? String(value) : value
}
