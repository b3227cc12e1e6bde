/** Measures work by CPU time, which depends less than elapsed time on what else the machine does. */

/** The CPU time of this process in milliseconds, including garbage collection and compilation. */
export function cost(work: () => unknown): number {
	const before = process.cpuUsage()
	work()
	return since(before)
}

/**
 * How many times more `large` costs than `small`: the minimum over several rounds of each. Rounds alternate, so that a slow
 * phase of the machine affects both. A cost of less than 0.3 ms counts as 0.3 ms.
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
