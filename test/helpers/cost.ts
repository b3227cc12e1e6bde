/** The processor time of work, which is independent of other programs' load. */

/** The processor time of this process in milliseconds, garbage collection and compilation included. */
export function cost(work: () => unknown): number {
	const before = process.cpuUsage()
	work()
	return since(before)
}

/**
 * How many times more `large` costs than `small`: the least of some rounds of each, in turn, so that both have their part
 * of a slow while. What costs less than a third of a millisecond counts as that.
 */
export async function growth(
	small: () => unknown,
	large: () => unknown,
	rounds = 8,
): Promise<{ readonly small: number; readonly ratio: number }> {
	const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
	for (let round = 0; round < rounds; round++) {
		for (const [at, work] of [small, large].entries()) {
			const before = process.cpuUsage()
			await work()
			least[at] = Math.min(least[at] ?? 0, since(before))
		}
	}
	const [one = 0, other = 0] = least
	return { small: one, ratio: other / Math.max(one, 0.3) }
}

function since(before: NodeJS.CpuUsage): number {
	const { user, system } = process.cpuUsage(before)
	return (user + system) / 1_000
}
