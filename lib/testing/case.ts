/** `Case`, one requirement of a contract, and helpers of the cases. Both contracts use them. */
import { AssertionError } from 'node:assert'
import { inspect, isDeepStrictEqual } from 'node:util'

/**
 * A requirement and its test.
 *
 *     for (const { name, run } of cacheContract(make)) test(name, run)
 */
export interface Case {
	/** The requirement, as a sentence. */
	readonly name: string
	/** Rejects with an AssertionError of node:assert if it isn't met. */
	run(): Promise<void>
}

const INSPECT_OPTIONS = {
	depth: 4,
	breakLength: Number.POSITIVE_INFINITY,
	maxArrayLength: 20,
	maxStringLength: 200,
}

/** The results of simultaneous calls. */
export function atOnce<T>(times: number, call: (index: number) => Promise<T>): Promise<T[]> {
	return Promise.all(Array.from({ length: times }, (_, index) => call(index)))
}

/**
 * Asserts deep equality. The message is limited: for values of 100,000 lines, the diff of `deepStrictEqual` takes
 * gigabytes.
 */
export function same(actual: unknown, expected: unknown, what = 'what came back'): void {
	if (isDeepStrictEqual(actual, expected)) return
	const message = `${what}: got ${inspect(actual, INSPECT_OPTIONS)}, expected ${inspect(expected, INSPECT_OPTIONS)}`
	throw new AssertionError({ message, actual, expected, operator: 'same', stackStartFn: same })
}
