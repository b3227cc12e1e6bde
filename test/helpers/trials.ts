/** The number of trials of tests that depend on chance: `VERBENA_TRIALS=10` makes it ten times as many. */
const TIMES = Number(process.env.VERBENA_TRIALS ?? 1)

/** `count` by default. */
export function trials(count: number): number {
	return Math.max(1, Math.round(count * TIMES))
}
