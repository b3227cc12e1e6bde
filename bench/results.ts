/** What has been measured, and the numbers drawn from it. */

/** What peers are compared by: the server's CPU time, that of server and database together, or requests per second. */
export type By = 'cost' | 'total' | 'rate'

/** One peer's part in one round. */
export interface Round {
	/** Cost of one request, match or start, in the workload's unit. */
	readonly cost: number
	/** Cost of one request in CPU time of all the database's processes, in µs; only where there is one. */
	readonly databaseCost?: number
	/** Requests per second; only where there is a load. */
	readonly rate?: number
	/** Part of the time in which the server's process had the CPU: below 0.9, the load was too slow. */
	readonly busy?: number
}

/** Milliseconds from when a request was due to its answer, at half the load. */
export interface Latency {
	readonly p50: number
	readonly p99: number
}

/** All rounds of one workload; round n of each peer was measured next to round n of the others. */
export interface Result {
	readonly workload: string
	/** Of `cost`: `µs` of the server's CPU, `ns` a match, `ms` until it listens. */
	readonly unit: string
	/** The peer that the others are compared with. */
	readonly reference: string
	readonly rounds: ReadonlyMap<string, readonly Round[]>
	readonly latency: ReadonlyMap<string, Latency>
}

/** Median and range. */
export interface Summary {
	readonly median: number
	readonly min: number
	readonly max: number
}

/** Median and range of some numbers, of which there is at least one. */
export function summarize(values: readonly number[]): Summary {
	const sorted = values.toSorted((a, b) => a - b)
	return { median: quantile(sorted, 0.5), min: quantile(sorted, 0), max: quantile(sorted, 1) }
}

/** The value at a part (0–1) of sorted numbers, between two of them where it falls between; NaN of none. */
export function quantile(sorted: readonly number[], part: number): number {
	const at = (sorted.length - 1) * part
	const below = sorted[Math.floor(at)] ?? Number.NaN
	const above = sorted[Math.ceil(at)] ?? Number.NaN
	return below + (above - below) * (at - Math.floor(at))
}

/**
 * How many times better `peer` is than `other`, round by round: by CPU the other's divided by the
 * peer's, by rate the peer's divided by the other's. Above 1 is better, in both.
 */
export function ratios(result: Result, peer: string, other: string, by: By = 'cost'): number[] {
	const theirs = result.rounds.get(other) ?? []
	return (result.rounds.get(peer) ?? []).flatMap((round, index) => {
		const mine = figureOf(round, by)
		const reference = figureOf(theirs[index], by)
		if (mine === undefined || reference === undefined) return []
		return by === 'rate' ? mine / reference : reference / mine
	})
}

function figureOf(round: Round | undefined, by: By): number | undefined {
	return by === 'total' ? round && round.cost + (round.databaseCost ?? 0) : round?.[by]
}
