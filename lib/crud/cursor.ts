/**
 * Pagination cursors: opaque texts that clients send back to get the next page. A stamp ties a cursor to the sort and
 * the conditions of its list, so that it can't be used in another list.
 */
import { attached } from '../base/attached.ts'
import { attempt } from '../base/attempt.ts'
import type { RestError } from '../base/error.ts'
import { isPlain } from '../base/options.ts'
import type { Condition, Field, FieldType, Link, Order, Value } from '../models/model.ts'
import type { Detail } from '../wire/codes.ts'
import type { FieldMap } from './fields.ts'
import { badQuery } from './query-values.ts'
import { operandFromJson } from './value-from-json.ts'

const BASE64URL = /^[\w-]+$/

/**
 * Makes the cursor for the page after a record. `next` is a JSON array of the record's values in the sort fields, as
 * models return it.
 */
export function keysetCursor(stamp: string, next: string): string {
	return Buffer.from(`["${stamp}",${next.slice(1)}`).toString('base64url')
}

/**
 * Makes a cursor from the offset of the next page. For lists whose key is hidden: other cursors contain the key. In an object,
 * because `fields()` may hide the key from some requests: an offset must not be taken for a key.
 */
export function offsetCursor(stamp: string, offset: number): string {
	return Buffer.from(JSON.stringify([stamp, { offset }])).toString('base64url')
}

/** The offset in a cursor made by `offsetCursor`. @throws RestError as `cursorValues` */
export function cursorOffset(cursor: string, stamp: string): number {
	const [position, ...more] = partsAfterStamp(cursor, stamp)
	const offset: unknown = isPlain(position) ? Reflect.get(position, 'offset') : undefined
	if (Number.isSafeInteger(offset) && Number(offset) >= 0 && more.length === 0) return Number(offset)
	throw malformed()
}

/**
 * The values in a cursor made by `keysetCursor`, each checked against its field's type, because clients can forge
 * cursors.
 *
 * @throws RestError `bad_request` if the cursor is malformed, or belongs to a list with another sort or filter
 */
export function cursorValues(
	cursor: string,
	stamp: string,
	order: readonly Order[],
	fields: FieldMap,
): readonly Value[] {
	const given = partsAfterStamp(cursor, stamp)
	if (given.length !== order.length) throw ofOtherList()
	const own = Array.from(fields.values(), ({ field }) => field)
	return order.map((term, at) => {
		const behind = term.via?.at(-1)?.link.model.fields
		const field = (behind ?? own).find(({ name }) => name === term.field)
		// Null if there is no related record.
		return cursorValue(field && behind ? { ...field, nullable: true } : field, given[at])
	})
}

/** The parts after the stamp. @throws RestError unless the stamp is the list's */
function partsAfterStamp(cursor: string, stamp: string): readonly unknown[] {
	const parts = parsed(cursor)
	if (parts === undefined) throw malformed()
	const [own, ...given] = parts
	if (own !== stamp) throw ofOtherList()
	return given
}

function malformed(): RestError {
	return badQuery('cursor', 'cursor', 'is malformed: take it from meta.next')
}

function ofOtherList(): RestError {
	return badQuery('cursor', 'cursor', 'belongs to a list with another sort or filter')
}

function parsed(cursor: string): unknown[] | undefined {
	if (!BASE64URL.test(cursor)) return undefined
	const parts = attempt<unknown>(() => JSON.parse(Buffer.from(cursor, 'base64url').toString()))
	return Array.isArray(parts) ? parts : undefined
}

function cursorValue(field: Field | undefined, given: unknown): Value {
	if (given === null && field?.nullable === true) return null
	if (field?.loose === true && field.type !== 'bytes') return looseValue(field, given)
	const problems: Detail[] = []
	// Stored values may violate the field's current choices and bounds, but not the range of its type.
	const max = typeof field?.max === 'bigint' && field.max > MAX_INT64 ? field.max : undefined
	const free = field && { ...field, choices: undefined, min: undefined, max }
	const value = free && operandFromJson(free, given, problems)
	if (value === undefined) throw malformed()
	return value
}

const MAX_INT64 = 2n ** 63n - 1n

const NUMBERS: ReadonlySet<FieldType> = new Set(['integer', 'bigint', 'float', 'decimal', 'boolean'])

/** A value of a column without a strict type: a number, a text or bytes. */
function looseValue(field: Field, given: unknown): Value {
	if (NUMBERS.has(field.type)) {
		if (given === 'Infinity' || given === '-Infinity') return Number(given)
		// Numbers may be strings: JSON has no infinities, and would lose digits of large numbers.
		const number = operandFromJson({ ...field, min: undefined, max: undefined }, given, [])
		if (number !== undefined) return number
	}
	if (typeof given === 'string' || typeof given === 'boolean') return given
	if (typeof given === 'number' && Number.isFinite(given)) return given
	const bytes: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, 'x') : undefined
	if (typeof bytes !== 'string' || !/^(?:[\dA-Fa-f]{2})*$/.test(bytes)) throw malformed()
	return Buffer.from(bytes, 'hex')
}

/** A hash of a list's order and conditions. */
export function stampOf(order: readonly Order[], where: Condition | undefined): string {
	const terms = order.map(({ field, descending, via = [] }) => {
		const path = via.map(({ link }) => `${linkText(link)}.`).join('')
		return `${descending ? '-' : '+'}${path}${JSON.stringify(field)}`
	})
	return hash(`${terms.join()}?${where === undefined ? '' : canonical(where)}`)
}

/** A condition as text, the same for conditions that differ only in the order of their terms. */
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
		case 'some': {
			const { link, where, fails } = condition
			return `some(${linkText(link)},${where ? canonical(where) : ''},${fails ? canonical(fails) : ''})`
		}
		case 'count': {
			const { link, where, compare, value } = condition
			return `count(${linkText(link)},${where ? canonical(where) : ''},${compare},${value})`
		}
		default: {
			const { op, field, value, ignoreCase } = condition
			return `${ignoreCase === true ? 'i' : ''}${op}(${JSON.stringify(field)},${valueText(value)})`
		}
	}
}

const LINK_TEXT: unique symbol = Symbol('verbena.linkText')

function linkText(link: Link): string {
	return attached(link, LINK_TEXT, () => {
		const { model, fields, to, through } = link
		return JSON.stringify([model.name, fields, to, through && [through.model.name, through.from, through.on]])
	})
}

function flat(op: 'and' | 'or', condition: Condition): readonly Condition[] {
	return condition.op === op ? condition.terms.flatMap((term) => flat(op, term)) : [condition]
}

function valueText(value: Value): string {
	return JSON.stringify(`${typeof value} ${String(value)}`)
}

/**
 * FNV-1a, twice: with 64 bits, two lists of one client don't collide by chance. The hash doesn't prevent forgery, which
 * is harmless: a forged cursor only leads to another position in a list that the client may read.
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
