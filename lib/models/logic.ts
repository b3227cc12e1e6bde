/** SQL's three-valued logic, for conditions that are tested here: a comparison with null is neither true nor false. */
import type { Comparison } from './model.ts'

/** Whether a condition is true of something; `undefined` is SQL's unknown. */
export type Test<T> = (one: T) => boolean | undefined

/** Whether each comparison holds, given the result of a comparator. */
export const HOLDS: Readonly<Record<Comparison, (order: number) => boolean>> = {
	eq: (order) => order === 0,
	ne: (order) => order !== 0,
	gt: (order) => order > 0,
	gte: (order) => order >= 0,
	lt: (order) => order < 0,
	lte: (order) => order <= 0,
}

export function not<T>(test: Test<T>): Test<T> {
	return (one) => {
		const found = test(one)
		return found === undefined ? undefined : !found
	}
}

/** `and` or `or`: the first term with the result `decisive` decides. */
export function joined<C, T>(op: 'and' | 'or', terms: readonly C[], testOf: (term: C) => Test<T>): Test<T> {
	const decisive = op === 'or'
	const tests = terms.map(testOf)
	return (one) => {
		let answer: boolean | undefined = !decisive
		for (const test of tests) {
			const found = test(one)
			if (found === decisive) return decisive
			if (found === undefined) answer = undefined
		}
		return answer
	}
}
