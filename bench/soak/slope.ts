/**
 * A robust estimate of growth: the median of the slopes between all pairs of points (Theil–Sen), with its confidence interval by
 * Kendall's rank statistic (Sen 1968). Up to 29 % of the points may be outliers.
 */

export interface Point {
	readonly x: number
	readonly y: number
}

/** In units of y per unit of x. */
export interface Slope {
	readonly slope: number
	/** The bounds of the 95 % confidence interval, if the noise of the points is independent. */
	readonly low: number
	readonly high: number
	/** The value of the line at x = 0. */
	readonly intercept: number
}

/** 95 % of a normal distribution is within this many standard deviations. */
const QUANTILE = 1.96

/** Minimum number of points for an interval. */
export const FEWEST = 5

/** @throws RangeError for fewer than {@link FEWEST} points */
export function slopeOf(points: readonly Point[]): Slope {
	const { length } = points
	if (length < FEWEST) throw new RangeError(`a slope needs ${FEWEST} points, got ${length}`)
	const slopes = pairSlopes(points)
	const middle = median(slopes)
	const deviation = Math.sqrt((length * (length - 1) * (2 * length + 5)) / 18)
	const reach = QUANTILE * deviation
	const rank = (at: number): number =>
		slopes[Math.min(Math.max(Math.round(at), 0), slopes.length - 1)] ?? middle
	return {
		slope: middle,
		low: rank((slopes.length - reach) / 2 - 1),
		high: rank((slopes.length + reach) / 2),
		intercept: median(points.map(({ x, y }) => y - middle * x).sort(ascending)),
	}
}

function pairSlopes(points: readonly Point[]): number[] {
	const slopes: number[] = []
	for (const [at, one] of points.entries())
		for (const other of points.slice(at + 1))
			if (other.x !== one.x) slopes.push((other.y - one.y) / (other.x - one.x))
	return slopes.sort(ascending)
}

/** The median of a sorted list that isn't empty. */
export function median(sorted: readonly number[]): number {
	const half = sorted.length / 2
	const low = sorted[Math.ceil(half) - 1] ?? 0
	const high = sorted[Math.floor(half)] ?? 0
	return (low + high) / 2
}

export function ascending(one: number, other: number): number {
	return one - other
}
