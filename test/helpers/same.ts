/** Types as test cases: `same<Same<A, B>>()` doesn't compile unless A and B are one type. */

/** `true` where two types are identical, `readonly` and `?` included. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** States that a comparison holds. */
export function same<Holds extends true>(): Holds | undefined {
	return undefined
}
