/** Round numbers for the ticks of an axis, and positions of values in a picture. */

/** About `count` round numbers, from at most `least` to at least `most`. */
export function ticks(least: number, most: number, count: number): number[] {
	const span = Math.max(most - least, Number.EPSILON)
	const rough = span / count
	const power = 10 ** Math.floor(Math.log10(rough))
	const step = ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power
	const first = Math.floor(least / step)
	const last = Math.ceil(most / step)
	return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)))
}

/** Maps a value to its position. */
export function scale(
	from: readonly [number, number],
	to: readonly [number, number],
): (value: number) => number {
	const factor = (to[1] - to[0]) / (from[1] - from[0] || 1)
	return (value) => to[0] + (value - from[0]) * factor
}
