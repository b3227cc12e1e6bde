/**
 * Cursors: where a page ended, as text that clients send back. They are opaque, and tied to the sort and the conditions of
 * their list, so that they can't be used in another one.
 */
import type { RestError } from '../base/error.ts'
import type { Condition, Field, FieldType, Order, Value } from '../models/model.ts'
import type { Detail } from '../wire/codes.ts'
import { badQuery } from './bad-query.ts'
import type { FieldMap } from './fields.ts'
import { operandFromJson } from './value-from-json.ts'

const BASE64URL = /^[\w-]+$/

/** The cursor after a record. `next` is a JSON array of its values in the terms of the order, as models return it. */
export function cursorText(stamp: string, next: string): string {
	return Buffer.from(`["${stamp}",${next.slice(1)}`).toString('base64url')
}

/** The cursor of a list whose key is hidden, and so can't be in it: how many records come before the next page. */
export function countText(stamp: string, count: number): string {
	return Buffer.from(JSON.stringify([stamp, count])).toString('base64url')
}

/**
 * How many records come before the page of a cursor that counts.
 *
 * @throws RestError as `cursorValues`
 */
export function cursorCount(cursor: string, stamp: string): number {
	const [count, ...more] = ownParts(cursor, stamp)
	if (Number.isSafeInteger(count) && Number(count) >= 0 && more.length === 0) return Number(count)
	throw malformed()
}

/**
 * The values of a cursor, each checked by its field's type: clients can send any.
 *
 * @throws RestError `bad_request` when it is malformed, or of a list with another sort or filter
 */
export function cursorValues(
	cursor: string,
	stamp: string,
	order: readonly Order[],
	fields: FieldMap,
): readonly Value[] {
	const given = ownParts(cursor, stamp)
	if (given.length !== order.length) throw foreign()
	const all = [...fields.values()]
	return order.map((term, at) =>
		cursorValue(all.find(({ field }) => field.name === term.field)?.field, given[at]),
	)
}

/** What follows the stamp, which must be the list's. */
function ownParts(cursor: string, stamp: string): readonly unknown[] {
	const parts = partsOf(cursor)
	if (parts === undefined) throw malformed()
	const [own, ...given] = parts
	if (own !== stamp) throw foreign()
	return given
}

function malformed(): RestError {
	return badQuery('cursor', 'cursor', 'is malformed: take it from meta.next')
}

function foreign(): RestError {
	return badQuery('cursor', 'cursor', 'belongs to a list with another sort or filter')
}

function partsOf(cursor: string): unknown[] | undefined {
	if (!BASE64URL.test(cursor)) return undefined
	try {
		const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
		return Array.isArray(parts) ? parts : undefined
	} catch {
		return undefined
	}
}

function cursorValue(field: Field | undefined, given: unknown): Value {
	if (given === null && field?.nullable === true) return null
	if (field?.loose === true && field.type !== 'bytes') return looseValue(field, given)
	const problems: Detail[] = []
	// A stored value may be outside of today's choices and bounds, but not of its type's.
	const max = typeof field?.max === 'bigint' && field.max > INT64 ? field.max : undefined
	const free = field && { ...field, choices: undefined, min: undefined, max }
	const value = free && operandFromJson(free, given, problems)
	if (value === undefined) throw malformed()
	return value
}

/** The greatest whole number of 64 bits with a sign. */
const INT64 = 2n ** 63n - 1n

const NUMBERS: ReadonlySet<FieldType> = new Set(['integer', 'bigint', 'float', 'decimal', 'boolean'])

/** A value of a column without a strict type: a number, a text or bytes. */
function looseValue(field: Field, given: unknown): Value {
	if (NUMBERS.has(field.type)) {
		if (given === 'Infinity' || given === '-Infinity') return Number(given)
		// It is a string where JSON has no such number, or would lose digits.
		const number = operandFromJson({ ...field, min: undefined, max: undefined }, given, [])
		if (number !== undefined) return number
	}
	if (typeof given === 'string' || typeof given === 'boolean') return given
	if (typeof given === 'number' && Number.isFinite(given)) return given
	const bytes: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, 'x') : undefined
	if (typeof bytes !== 'string' || !/^(?:[\dA-Fa-f]{2})*$/.test(bytes)) throw malformed()
	return Buffer.from(bytes, 'hex')
}

/** A short text that only lists with the same order and the same conditions share. */
export function stampOf(order: readonly Order[], where: Condition | undefined): string {
	const terms = order.map(({ field, descending }) => `${descending ? '-' : '+'}${JSON.stringify(field)}`)
	return hash(`${terms.join()}?${where === undefined ? '' : canonical(where)}`)
}

/** The same text for conditions that differ only in the order in which they were written. */
function canonical(condition: Condition): string {
	switch (condition.op) {
		case 'and':
		case 'or': {
			const { op } = condition
			const terms = [...new Set(flat(op, condition).map(canonical))].sort()
			return terms.length === 1 ? (terms[0] ?? '') : `${op}(${terms.join()})`
		}
		case 'not':
			return `not(${canonical(condition.term)})`
		case 'in': {
			const values = [...new Set(condition.values.map(valueText))].sort()
			return `in(${JSON.stringify(condition.field)},${values.join()})`
		}
		case 'null':
			return `null(${JSON.stringify(condition.field)},${condition.value})`
		default: {
			const { op, field, value, ignoreCase } = condition
			return `${ignoreCase === true ? 'i' : ''}${op}(${JSON.stringify(field)},${valueText(value)})`
		}
	}
}

function flat(op: 'and' | 'or', condition: Condition): readonly Condition[] {
	return condition.op === op ? condition.terms.flatMap((term) => flat(op, term)) : [condition]
}

function valueText(value: Value): string {
	return JSON.stringify(`${typeof value} ${String(value)}`)
}

/**
 * FNV-1a, twice: 64 bits, which two lists of one client don't share by chance. It is no protection, and none is needed: a
 * forged cursor only leads to another place of a list that its client may read.
 */
function hash(text: string): string {
	let [a, b] = [0x811c9dc5, 0x9dc5811c]
	for (let at = 0; at < text.length; at++) {
		const unit = text.charCodeAt(at)
		a = Math.imul(a ^ unit, 0x01000193)
		b = Math.imul(b ^ unit, 0x85ebca6b)
	}
	return (a >>> 0).toString(36) + (b >>> 0).toString(36)
}
