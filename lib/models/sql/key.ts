/** Ids and versions: texts of clients, and the values of the columns that they stand for. */
import type { Value } from '../model.ts'
import type { Column } from './table.ts'

export const INTEGER = /^-?\d{1,19}$/
const LEAST = -(2n ** 63n)
const GREATEST = 2n ** 63n - 1n

/** An id as the value of the key's column; the id is one that can be the key's. */
export function valueOfId(id: string, key: Column): Value {
	if (key.type !== 'integer' && key.type !== 'bigint') return id
	const number = Number(id)
	return Number.isSafeInteger(number) ? number : BigInt(id)
}

/** A key's value as an id. */
export function idOf(value: unknown): string {
	return String(value)
}

/** A version as the value of its column; `undefined` for what no version can be, so that nothing fits it. */
export function valueOfVersion(version: string, column: Column): Value | undefined {
	if (!INTEGER.test(version)) return undefined
	const digits = BigInt(version)
	if (digits < (column.min ?? LEAST) || digits > (column.max ?? GREATEST)) return undefined
	const number = Number(version)
	return Number.isSafeInteger(number) ? number : digits
}

/** Whether a change says what the key is. */
export function isGiven(value: Value | symbol | undefined): value is NonNullable<Value> {
	return value !== undefined && value !== null && typeof value !== 'symbol'
}
