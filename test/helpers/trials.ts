/** How often tests repeat what depends on chance: `VERBENA_TRIALS=10` makes each do ten times as much. */
const TIMES = Number(process.env.VERBENA_TRIALS ?? 1)

/** `count` by default. */
export function trials(count: number): number {
	return Math.max(1, Math.round(count * TIMES))
}
