/** `Case`: one promise of a contract, in a form that any test runner can loop over. */

/**
 * A promise and its check.
 *
 *     for (const { name, run } of cacheContract(make)) test(name, run)
 */
export interface Case {
	/** The promise, as a sentence. */
	readonly name: string
	/** Rejects with an AssertionError of node:assert where the promise isn't kept. */
	run(): Promise<void>
}
