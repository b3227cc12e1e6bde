/** Calls that are made at the same time, at most. */
const MAX_CONCURRENT = 4

/** Calls `run` for each item, a few at the same time; the results are in the order of the items. */
export async function eachOf<I, O>(items: readonly I[], run: (item: I) => Promise<O>): Promise<readonly O[]> {
	const results: O[] = []
	const rest = items.entries()
	const worker = async () => {
		for (const [at, item] of rest) results[at] = await run(item)
	}
	await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, items.length) }, worker))
	return results
}
