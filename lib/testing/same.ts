/** The contracts: equality of long values. */
import { AssertionError } from 'node:assert'
import { inspect, isDeepStrictEqual } from 'node:util'

const SHOWN = { depth: 4, breakLength: Number.POSITIVE_INFINITY, maxArrayLength: 20, maxStringLength: 200 }

/**
 * Asserts that two values are deeply equal. Where they aren't, the message holds their beginnings: the
 * difference that `deepStrictEqual` looks for takes gigabytes when the values have some 100,000 lines.
 */
export function same(actual: unknown, expected: unknown, what = 'what came back'): void {
	if (isDeepStrictEqual(actual, expected)) return
	const message = `${what}: got ${inspect(actual, SHOWN)}, expected ${inspect(expected, SHOWN)}`
	throw new AssertionError({ message, actual, expected, operator: 'same', stackStartFn: same })
}
