/**
 * Filters groups by `having`, sorts them and writes their JSON, for stores that can't. `jsonParts` is the JSON's layout for
 * all stores.
 */
import { HOLDS, joined, not, type Test } from '../logic.ts'
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
export interface Columns<G extends Group> {
	readonly keys: readonly Compare[]
	readonly totals: readonly Compare[]
	/** The value that a total is compared with. */
	operand(leaf: Leaf): unknown
	/** Reads the result of a comparison that the store has made; `undefined` for a comparison to make here. */
	made?(leaf: Leaf): Test<G> | undefined
}

/** A comparison in `having`. */
export type Leaf = Exclude<TotalsCondition, { op: 'and' | 'or' | 'not' | 'null' }>

/** A text of the JSON, or the index of a key or a total. */
type JsonPart = string | { readonly key: number } | { readonly total: number }

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
	// Without the comma before a further member.
	parts.push(before === '{' ? '{}' : `${before.slice(0, -1)}}`)
	return parts
}

/** @throws ModelError `too_large` */
export function finished<G extends Group>(
	query: TotalsQuery,
	groups: readonly G[],
	columns: Columns<G>,
): Totaled {
	const { having, order, limit, maxBytes } = query
	const found = having === undefined ? [...groups] : groups.filter(testOf(having, comparing(having, columns)))
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

/** The comparisons of a condition. */
export function leavesOf(having: TotalsCondition | undefined): Leaf[] {
	if (having === undefined || having.op === 'null') return []
	if ('term' in having) return leavesOf(having.term)
	return 'terms' in having ? having.terms.flatMap(leavesOf) : [having]
}

/** SQL's logic: a comparison with null is unknown. */
function testOf<G extends Group>(having: TotalsCondition, compared: (leaf: Leaf) => Test<G>): Test<G> {
	if ('term' in having) return not(testOf(having.term, compared))
	if ('terms' in having) return joined(having.op, having.terms, (term) => testOf(term, compared))
	const { total } = having
	const isNull = ({ totals }: G) => (totals[total]?.value ?? null) === null
	if (having.op === 'null') return (group) => isNull(group) === having.value
	const test = compared(having)
	return (group) => (isNull(group) ? undefined : test(group))
}

/** Returns a function that makes the test of a comparison. */
function comparing<G extends Group>(having: TotalsCondition, columns: Columns<G>): (leaf: Leaf) => Test<G> {
	const places = columns.totals.map((compare, total) => {
		const leaves = leavesOf(having).filter(
			(leaf) => leaf.total === total && columns.made?.(leaf) === undefined,
		)
		return new Places(
			total,
			compare,
			leaves.map((leaf) => columns.operand(leaf)),
		)
	})
	return (leaf) => {
		const made = columns.made?.(leaf)
		if (made !== undefined) return made
		const among = places[leaf.total] as Places // the index of a total
		const place = among.of(columns.operand(leaf))
		const isAskedFor = HOLDS[leaf.op]
		return (group) => isAskedFor(among.ofGroup(group) - place)
	}
}

/**
 * The position of a total among all values that it is compared with. A query may have a hundred comparisons for each of
 * many groups, so a group's total is searched for once and not compared a hundred times.
 */
class Places {
	readonly #total: number
	readonly #compare: Compare
	/** Sorted, without duplicates. */
	readonly #operands: readonly unknown[]
	#group: Group | undefined
	#place = 0

	constructor(total: number, compare: Compare, operands: readonly unknown[]) {
		const sorted = [...operands].sort(compare)
		this.#operands = sorted.filter((one, at) => at === 0 || compare(sorted[at - 1], one) !== 0)
		this.#total = total
		this.#compare = compare
	}

	/** An odd number if the value is one of the operands, an even one between them. */
	of(value: unknown): number {
		let [low, high] = [0, this.#operands.length]
		while (low < high) {
			const middle = (low + high) >>> 1
			const sign = this.#compare(value, this.#operands[middle])
			if (sign === 0) return 2 * middle + 1
			if (sign < 0) high = middle
			else low = middle + 1
		}
		return 2 * low
	}

	/** The same for a group's total; kept for the latest group, because all its tests ask for it. */
	ofGroup(group: Group): number {
		if (group !== this.#group) {
			this.#group = group
			this.#place = this.of(group.totals[this.#total]?.value)
		}
		return this.#place
	}
}

export const byExact: Compare = (a, b) => compareExact(a as Exact, b as Exact) // the values of such columns

/** The value of a comparison with an exact total. @throws ModelError `invalid` for a text that isn't a decimal */
export function exactOperand({ value }: Leaf): Exact {
	const text = String(value)
	if (!/^-?\d+(?:\.\d+)?$/.test(text)) throw new ModelError('invalid')
	return exactOf(text)
}
