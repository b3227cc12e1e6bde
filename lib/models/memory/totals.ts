/** Totals of a `MemoryModel`: groups records by the texts of their keys, and adds up each group. Exact, and in one pass. */
import type { Field, Total, Totaled, TotalsKey, TotalsQuery, Value } from '../model.ts'
import { added, averageOf, type Exact, exactOf, exactText, ZERO } from '../totals/exact.ts'
import {
	byExact,
	type Cell,
	type Compare,
	exactOperand,
	finished,
	type Group,
	type Leaf,
} from '../totals/groups.ts'
import { localTime, partText, type TimeZones } from '../totals/time-zone.ts'
import { matching } from './condition.ts'
import { identityOf, writeOf } from './json.ts'
import type { Source } from './links.ts'
import { type Term, termOf } from './list.ts'
import { comparisonOf, formOf, type Row, type Stored } from './stored.ts'

/** A key of the groups. */
interface Key {
	readonly compare: Compare
	cell(values: readonly Stored[]): Cell
	/** The same text for equal values. */
	identity(cell: Cell): string
}

/** How a total is added up. */
interface Adding {
	readonly compare: Compare
	/** Starts a group: `add` adds a record, `cell` returns the total. */
	begin(): { add(values: readonly Stored[]): void; cell(): Cell }
	/** The value that the total is compared with. */
	operand(leaf: Leaf): unknown
}

const NULL: Cell = { json: 'null', value: null }

/** @throws ModelError `too_large`, and `invalid` for a value that a total can't be compared with */
export function totals(query: TotalsQuery, source: Source, zones: TimeZones): Totaled {
	const rows = matching(query.where, source)
	const keys = query.by.map((key) => keyOf(key, query.timeZone, rows, source, zones))
	const addings = query.totals.map((total) => addingOf(total, source))
	const begin = (cells: readonly Cell[]) => ({ cells, sums: addings.map((adding) => adding.begin()) })
	const found = new Map<string, ReturnType<typeof begin>>()
	if (keys.length === 0) found.set('[]', begin([]))
	for (const { values } of rows) {
		const cells = keys.map((key) => key.cell(values))
		const identity = JSON.stringify(cells.map((cell, at) => cell.value !== null && keys[at]?.identity(cell)))
		const group = found.get(identity) ?? begin(cells)
		found.set(identity, group)
		for (const sum of group.sums) sum.add(values)
	}
	const groups = Array.from(
		found.values(),
		({ cells, sums }): Group => ({ keys: cells, totals: sums.map((sum) => sum.cell()) }),
	)
	return finished(query, groups, {
		keys: keys.map(({ compare }) => compare),
		totals: addings.map(({ compare }) => compare),
		operand: (leaf) => addings[leaf.total]?.operand(leaf),
	})
}

function keyOf(
	{ field: name, via, part }: TotalsKey,
	timeZone: string,
	rows: readonly Row[],
	source: Source,
	zones: TimeZones,
): Key {
	const term = termOf({ field: name, descending: false, ...(via === undefined ? {} : { via }) }, source)
	if (part === undefined) {
		const write = writeOf(term.field)
		return {
			compare: comparedBy(term),
			cell(values) {
				const value = term.valueOf(values)
				return value === null ? NULL : { json: write(value), value }
			},
			identity: ({ value }) => identityOf(value as Exclude<Stored, null>, term.field), // of the cells above
		}
	}
	const millisecondsOf = (values: readonly Stored[]) => {
		const value = term.valueOf(values)
		if (value === null) return undefined
		const text = String(value)
		return Date.parse(term.field.type === 'date' ? text : `${text.slice(0, 23)}Z`)
	}
	const isLocal = term.field.type === 'timestamp' && timeZone !== 'UTC'
	const spans = isLocal ? zones.spans(timeZone, ...rangeOf(rows, millisecondsOf)) : []
	return {
		compare: (a, b) => compareParts(a as string, b as string), // the cells' own
		cell(values) {
			const time = millisecondsOf(values)
			if (time === undefined) return NULL
			const text = partText(part, isLocal ? localTime(time, spans) : time)
			return { json: JSON.stringify(text), value: text }
		},
		identity: ({ value }) => String(value),
	}
}

/** By length first: a time zone can move a time in 9999 to the year 10000. */
function compareParts(a: string, b: string): number {
	return a.length - b.length || comparisonOf('text')(a, b)
}

function comparedBy({ compare }: Pick<Term, 'compare'>): Compare {
	return (a, b) => compare(a as Stored, b as Stored) // values of the field
}

function rangeOf(
	rows: readonly Row[],
	timeOf: (values: readonly Stored[]) => number | undefined,
): [number, number] {
	let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
	for (const { values } of rows) {
		const time = timeOf(values)
		if (time === undefined) continue
		if (time < from) from = time
		if (time > to) to = time
	}
	return from <= to ? [from, to] : [0, 0]
}

function addingOf(total: Total, source: Source): Adding {
	if (total.op === 'count') return counting
	const { store } = source
	const field = store.field(total.field)
	const index = store.indexOf(total.field)
	const read = (values: readonly Stored[]) => values[index] ?? null
	if (total.op === 'min' || total.op === 'max') return extreme(field, total.op === 'min' ? -1 : 1, read)
	return field.type === 'float'
		? floating(field, total.op, read)
		: exactly(field, total.op, (values) => {
				const value = read(values)
				return value === null ? undefined : exactOf(String(value))
			})
}

const counting: Adding = {
	compare: (a, b) => Number(a) - Number(b),
	operand: ({ value }) => value,
	begin() {
		let count = 0
		return {
			add() {
				count++
			},
			cell: () => ({ json: String(count), value: count }),
		}
	},
}

function extreme(field: Field, sign: number, read: (values: readonly Stored[]) => Stored): Adding {
	const compare = comparisonOf(field.type)
	const write = writeOf(field)
	return {
		compare: comparedBy({ compare }),
		operand: ({ value }) => formOf(value, field),
		begin() {
			let best: Stored = null
			return {
				add(values) {
					const value = read(values)
					if (value !== null && (best === null || compare(value, best) * sign > 0)) best = value
				},
				cell: () => (best === null ? NULL : { json: write(best), value: best }),
			}
		},
	}
}

function floating(field: Field, op: 'sum' | 'avg', read: (values: readonly Stored[]) => Stored): Adding {
	const write = writeOf(field)
	return {
		compare: comparedBy({ compare: comparisonOf('float') }),
		operand: ({ value }) => formOf(value as Value, field),
		begin() {
			let [sum, count] = [0, 0]
			return {
				add(values) {
					const value = read(values)
					if (value === null) return
					sum += Number(value)
					count++
				},
				cell() {
					const value = op === 'sum' ? sum : sum / count
					return count === 0 ? NULL : { json: write(value), value }
				},
			}
		},
	}
}

function exactly(
	{ type, asText = false }: Field,
	op: 'sum' | 'avg',
	read: (values: readonly Stored[]) => Exact | undefined,
): Adding {
	const isText = type === 'decimal' || asText || op === 'avg'
	return {
		compare: byExact,
		operand: exactOperand,
		begin() {
			let [sum, count] = [ZERO, 0n]
			return {
				add(values) {
					const value = read(values)
					if (value === undefined) return
					sum = added(sum, value)
					count++
				},
				cell: () => (count === 0n ? NULL : exactCell(op === 'sum' ? sum : averageOf(sum, count), isText)),
			}
		},
	}
}

function exactCell(value: Exact, isText: boolean): Cell {
	const text = exactText(value)
	return { json: isText ? `"${text}"` : text, value }
}
