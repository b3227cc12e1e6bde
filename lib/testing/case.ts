/** `Case`, one promise of a contract, and an assertion for long values. Both contracts use them. */
import { AssertionError } from 'node:assert'
import { inspect, isDeepStrictEqual } from 'node:util'

/**
 * A promise and its test.
 *
 *     for (const { name, run } of cacheContract(make)) test(name, run)
 */
export interface Case {
	/** The promise, as a sentence. */
	readonly name: string
	/** Rejects with an AssertionError of node:assert if the promise isn't kept. */
	run(): Promise<void>
}

const SHOWN = { depth: 4, breakLength: Number.POSITIVE_INFINITY, maxArrayLength: 20, maxStringLength: 200 }

/**
 * Asserts that two values are deeply equal. If not, the message has their beginnings: for values of 100,000 lines, the
 * diff of `deepStrictEqual` takes gigabytes.
 */
export function same(actual: unknown, expected: unknown, what = 'what came back'): void {
	if (isDeepStrictEqual(actual, expected)) return
	const message = `${what}: got ${inspect(actual, SHOWN)}, expected ${inspect(expected, SHOWN)}`
	throw new AssertionError({ message, actual, expected, operator: 'same', stackStartFn: same })
}
