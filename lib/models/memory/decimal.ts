/** Decimals of `MemoryModel`: texts of digits, compared as the exact numbers they stand for. */

const DECIMAL = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/

/** Most zeros that an exponent may add: `1e999999999` would be a gigabyte. */
const MAX_EXPONENT = 1_000

/** The number without exponent, plus and leading zeros; zeros at its end stay. `undefined` for no number. */
export function decimalOf(text: string): string | undefined {
	const match = DECIMAL.exec(text)
	if (match === null) return undefined
	const [, sign = '', before = '', after = '', exponent = '0'] = match
	const shift = Number(exponent)
	if (Math.abs(shift) > MAX_EXPONENT) return undefined
	const [whole, fraction] = shifted(before, after, shift)
	const digits = whole.replace(/^0+(?=\d)/, '') || '0'
	const number = fraction === '' ? digits : `${digits}.${fraction}`
	return sign === '-' && /[1-9]/.test(number) ? `-${number}` : number
}

/** The digits before and after the point, when it is moved to the right by `places`, or to the left. */
function shifted(before: string, after: string, places: number): [whole: string, fraction: string] {
	if (places >= 0) {
		const moved = after.padEnd(places, '0')
		return [before + moved.slice(0, places), moved.slice(places)]
	}
	const moved = before.padStart(-places, '0')
	const point = moved.length + places
	return [moved.slice(0, point), moved.slice(point) + after]
}

/** Below, above or equal 0, as `a` is below, above or equal `b`. Both are of `decimalOf`. */
export function compareDecimals(a: string, b: string): number {
	const isNegative = a.startsWith('-')
	if (isNegative !== b.startsWith('-')) return isNegative ? -1 : 1
	return isNegative ? comparePositive(b.slice(1), a.slice(1)) : comparePositive(a, b)
}

/** Without zeros at their ends, numbers with as many digits before the point are in the order of their texts. */
function comparePositive(a: string, b: string): number {
	const order = wholeLength(a) - wholeLength(b)
	if (order !== 0) return order
	const [left, right] = [shortestDecimal(a), shortestDecimal(b)]
	if (left === right) return 0
	return left < right ? -1 : 1
}

function wholeLength(decimal: string): number {
	const point = decimal.indexOf('.')
	return point === -1 ? decimal.length : point
}

/** One text for all writings of a number: `1.5` for `1.50`. */
export function shortestDecimal(decimal: string): string {
	if (!decimal.endsWith('0') || !decimal.includes('.')) return decimal
	let end = decimal.length
	while (decimal[end - 1] === '0') end--
	return decimal.slice(0, decimal[end - 1] === '.' ? end - 1 : end)
}
