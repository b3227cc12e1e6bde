/** Measurements, and the statistics on them. */

/** What peers are compared by: CPU time of the server, CPU time of server and database, or requests per second. */
export type By = 'cost' | 'total' | 'rate'

/** The figures of one peer in one round. */
export interface Round {
	/** Cost of one request, match or start, in the workload's unit. */
	readonly cost: number
	/** CPU time of all processes of the database for one request, in µs; only for workloads with a database. */
	readonly databaseCost?: number
	/** Requests per second; only for workloads over HTTP. */
	readonly rate?: number
	/** Fraction of the time in which the server's process had the CPU. Below 0.9 the load generator was too slow. */
	readonly busy?: number
}

/** Milliseconds from when a request was due to its response, at half the maximum load. */
export interface Latency {
	readonly p50: number
	readonly p99: number
}

/** All rounds of one workload; round n of each peer was measured next to round n of the others. */
export interface Result {
	readonly workload: string
	/** The unit of `cost`: `µs` of the server's CPU, `ns` per match, `ms` until the process listens. */
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

/** A quantile (0–1) of sorted numbers, interpolated; NaN if there are none. */
export function quantile(sorted: readonly number[], part: number): number {
	const at = (sorted.length - 1) * part
	const below = sorted[Math.floor(at)] ?? Number.NaN
	const above = sorted[Math.ceil(at)] ?? Number.NaN
	return below + (above - below) * (at - Math.floor(at))
}

/**
 * How many times better `peer` is than `other`, per round: for CPU time, the other's divided by the peer's; for rates, the
 * peer's divided by the other's. Above 1 is better in both.
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
