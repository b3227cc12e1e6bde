/** Decimal numbers with all their digits, for the sums and averages of stores without such numbers of their own. */

/** `digits` divided by ten to the power of `scale`, the number of digits after the point. */
export interface Exact {
	readonly digits: bigint
	/** From 0 up. */
	readonly scale: number
}

export const ZERO: Exact = { digits: 0n, scale: 0 }

/** How many more digits after the point an average has than the sum. */
export const AVERAGE_DIGITS = 6

/** The number of a text such as `-12.50`. */
export function exactOf(text: string): Exact {
	const [whole = '', fraction = ''] = text.split('.')
	return { digits: BigInt(whole + fraction), scale: fraction.length }
}

export function added(a: Exact, b: Exact): Exact {
	const scale = Math.max(a.scale, b.scale)
	return { digits: scaled(a, scale) + scaled(b, scale), scale }
}

/** The sum of `count` values divided by their number, rounded half away from zero. */
export function averageOf(sum: Exact, count: bigint): Exact {
	const scale = sum.scale + AVERAGE_DIGITS
	const dividend = scaled(sum, scale)
	const size = dividend < 0n ? -dividend : dividend
	const rounded = (2n * size + count) / (2n * count)
	return { digits: dividend < 0n ? -rounded : rounded, scale }
}

export function compareExact(a: Exact, b: Exact): number {
	const scale = Math.max(a.scale, b.scale)
	const [left, right] = [scaled(a, scale), scaled(b, scale)]
	if (left === right) return 0
	return left < right ? -1 : 1
}

export function exactText({ digits, scale }: Exact): string {
	const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
	const point = text.length - scale
	const number = scale === 0 ? text : `${text.slice(0, point)}.${text.slice(point)}`
	return digits < 0n ? `-${number}` : number
}

function scaled({ digits, scale }: Exact, wanted: number): bigint {
	return wanted === scale ? digits : digits * 10n ** BigInt(wanted - scale)
}
