/**
 * Groups with their totals, finished here where the store can't: those that match `having`, in their order, as JSON.
 * `jsonParts` is the JSON's layout for all stores.
 */
import type { Total, Totaled, TotalsCondition, TotalsQuery } from '../model.ts'
import { ModelError, refuseLarger } from '../model-error.ts'
import { compareExact, type Exact, exactOf } from './exact.ts'

/** A key or a total of a group. */
export interface Cell {
	readonly json: string
	/** Compared by the function for its column; null for null. */
	readonly value: unknown
}

/** A group's keys, then its totals. */
export interface Group {
	readonly keys: readonly Cell[]
	readonly totals: readonly Cell[]
}

/** Compares two values that aren't null. */
export type Compare = (a: unknown, b: unknown) => number

/** How the columns of the groups are compared. */
export interface Columns {
	readonly keys: readonly Compare[]
	readonly totals: readonly Compare[]
	/** Whether a group matches a comparison; `undefined` for unknown. */
	holds(leaf: Leaf, group: Group): boolean | undefined
}

/** A comparison in `having`. */
export type Leaf = Exclude<TotalsCondition, { op: 'and' | 'or' | 'not' | 'null' }>

/** A text of the JSON, or the index of a key or a total. */
type JsonPart = string | { readonly key: number } | { readonly total: number }

/** A group's JSON, in parts. */
export function jsonParts({ by, totals }: TotalsQuery): readonly JsonPart[] {
	const parts: JsonPart[] = []
	let before = '{'
	for (const [key, { name }] of by.entries()) {
		parts.push(`${before}${JSON.stringify(name)}:`, { key })
		before = ','
	}
	let op: Total['op'] | undefined
	for (const [total, one] of totals.entries()) {
		if (one.op === 'count') parts.push(`${before}"count":`, { total })
		else if (one.op === op) parts.push(`,${JSON.stringify(one.name)}:`, { total })
		else parts.push(`${before}"${one.op}":{${JSON.stringify(one.name)}:`, { total })
		const isLast = totals[total + 1]?.op !== one.op
		before = one.op !== 'count' && isLast ? '},' : ','
		op = one.op
	}
	// The comma of what would have followed.
	parts.push(before === '{' ? '{}' : `${before.slice(0, -1)}}`)
	return parts
}

/** @throws ModelError `too_large` */
export function finished(query: TotalsQuery, groups: readonly Group[], columns: Columns): Totaled {
	const { having, order, limit, maxBytes } = query
	const found = having === undefined ? [...groups] : groups.filter((group) => matches(having, group, columns))
	const terms = order.map((term) => {
		const cell = ({ keys, totals }: Group) => ('key' in term ? keys[term.key] : totals[term.total])
		const compare = 'key' in term ? columns.keys[term.key] : columns.totals[term.total]
		return { cell, compare, descending: term.descending }
	})
	found.sort((a, b) => {
		for (const { cell, compare, descending } of terms) {
			const [left = null, right = null] = [cell(a)?.value, cell(b)?.value]
			if (left === null && right === null) continue
			if (left === null || right === null) return left === null ? 1 : -1
			const sign = compare?.(left, right) ?? 0
			if (sign !== 0) return descending ? -sign : sign
		}
		return 0
	})
	const parts = jsonParts(query)
	const texts: string[] = []
	let units = 0
	for (const group of found.slice(0, limit)) {
		const text = parts.map((part) => jsonOf(part, group)).join('')
		units += text.length
		if (maxBytes !== undefined && units > maxBytes) throw new ModelError('too_large')
		texts.push(text)
	}
	const json = `[${texts.join()}]`
	refuseLarger(json, maxBytes)
	return { json, groups: texts.length }
}

function jsonOf(part: JsonPart, { keys, totals }: Group): string {
	if (typeof part === 'string') return part
	return ('key' in part ? keys[part.key] : totals[part.total])?.json ?? 'null'
}

/** SQL's logic: a comparison with null is unknown. */
function matches(having: TotalsCondition, group: Group, columns: Columns): boolean | undefined {
	if ('term' in having) {
		const found = matches(having.term, group, columns)
		return found === undefined ? undefined : !found
	}
	if ('terms' in having) {
		const decisive = having.op === 'or'
		const found = having.terms.map((term) => matches(term, group, columns))
		if (found.includes(decisive)) return decisive
		return found.includes(undefined) ? undefined : !decisive
	}
	const value = group.totals[having.total]?.value ?? null
	if (having.op === 'null') return (value === null) === having.value
	return value === null ? undefined : columns.holds(having, group)
}

const SIGNS: Readonly<Record<Leaf['op'], (sign: number) => boolean>> = {
	eq: (sign) => sign === 0,
	ne: (sign) => sign !== 0,
	gt: (sign) => sign > 0,
	gte: (sign) => sign >= 0,
	lt: (sign) => sign < 0,
	lte: (sign) => sign <= 0,
}

/** Whether a comparison's result is one that its operator asks for. */
export function isAskedFor({ op }: Leaf, sign: number): boolean {
	return SIGNS[op](sign)
}

export const byExact: Compare = (a, b) => compareExact(a as Exact, b as Exact) // the values of such columns

/** The value of a comparison with an exact total. @throws ModelError `invalid` for a text that isn't a decimal */
export function exactOperand({ value }: Leaf): Exact {
	const text = String(value)
	if (!/^-?\d+(?:\.\d+)?$/.test(text)) throw new ModelError('invalid')
	return exactOf(text)
}
