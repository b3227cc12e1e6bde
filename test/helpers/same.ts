/** Tests of types: `same<Same<A, B>>()` compiles only if A and B are identical. */

/** `true` if two types are identical, including `readonly` and `?`. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Asserts, at compile time, that a comparison holds. */
export function same<Holds extends true>(): Holds | undefined {
	return undefined
}
