/** Totals of groups of records: types of `Model.totals`, which `model.ts` exports, too. */
import type { Value } from './field.ts'

/** Operators that compare a field with one value. */
export type Comparison = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte'

/** Part of a date or a timestamp, as a text: `2026`, `2026-Q4`, `2026-11`, `2026-W47` (ISO 8601), `2026-11-20`, `2026-11-20T13`. */
export type TimePart = 'year' | 'quarter' | 'month' | 'week' | 'day' | 'hour'

/**
 * A total of a group. All but `count` ignore nulls, and are null if there is no other value.
 *
 * - `count`: the number of records
 * - `sum` of an `integer`, `bigint` or `decimal`: exact, whatever its size, in the field's form in JSON, with as many digits
 *   after the point as the value that has most of them
 * - `avg` of these: a string, the sum divided by the number of values, rounded to six more digits after the point than the
 *   sum has, halves away from zero: `"25.83333333"`
 * - `sum` and `avg` of a `float`: a number as the field's
 * - `min` and `max` of a field that has an order and is neither `boolean` nor `uuid`, in the field's form
 */
export type Total =
	| { readonly op: 'count' }
	| { readonly op: 'sum' | 'avg' | 'min' | 'max'; readonly field: string; readonly name: string }

/** A condition on groups, with the logic of `Condition`. `total` is an index of `TotalsQuery.totals`. */
export type TotalsCondition =
	| { readonly op: 'and' | 'or'; readonly terms: readonly TotalsCondition[] }
	| { readonly op: 'not'; readonly term: TotalsCondition }
	| { readonly op: 'null'; readonly total: number; readonly value: boolean }
	| {
			readonly op: Comparison
			readonly total: number
			/**
			 * A number for `count`; digits, perhaps with a point, for an exact `sum` and `avg`; a number for those of a float; a
			 * value of the field for `min` and `max`.
			 */
			readonly value: Exclude<Value, null>
	  }

/** A term of the groups' order: an index of `by`, or of `totals`. Nulls come last in both directions. */
export type TotalsOrder =
	| { readonly key: number; readonly descending: boolean }
	| { readonly total: number; readonly descending: boolean }

/** Groups with their totals. */
export interface Totaled {
	/**
	 * A JSON array of at most `limit` groups: `[{"status":"paid","count":12,"sum":{"amount":"310.00"}}]`. Each has the keys in
	 * the order of `by`, then `count`, then an object for each other `op` in the order of `totals`.
	 */
	readonly json: string
	/** How many groups `json` has. */
	readonly groups: number
}
