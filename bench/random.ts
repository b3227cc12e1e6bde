/** Seeded random numbers, so that two runs measure the same requests. */

/** Returns an integer from 0 to `below` − 1. */
export type Random = (below: number) => number

/** A generator with a seed: mulberry32, small and good enough to draw requests. */
export function seeded(seed: number): Random {
	let state = seed
	return (below) => {
		state = (state + 0x6d2b79f5) | 0
		let mixed = Math.imul(state ^ (state >>> 15), state | 1)
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
		return ((mixed ^ (mixed >>> 14)) >>> 0) % below
	}
}

/** A word of lower-case letters. */
export function word(random: Random, length: number): string {
	let text = ''
	while (text.length < length) text += 'abcdefghijklmnopqrstuvwxyz'[random(26)]
	return text
}

/** `count` random values, the same in every run. */
export function draw<T>(count: number, make: (random: Random) => T): T[] {
	const random = seeded(count)
	return Array.from({ length: count }, () => make(random))
}

/** A random entry of a list that isn't empty. */
export function pick<T>(list: readonly T[], random: Random): T {
	return list[random(list.length)] as T // random(n) is below n
}
