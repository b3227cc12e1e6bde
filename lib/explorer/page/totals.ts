/** Totals as a table, in which each number has a bar. Called by `answer-view.ts`. */
import type { App } from './app.ts'
import { el } from './dom.ts'
import { plainText } from './fields.ts'
import { isRecord, type JsonValue, RawNumber } from './json-value.ts'
import { heading, tableOf } from './table.ts'

type Group = ReadonlyMap<string, JsonValue>

export function totalsView(app: App, rows: readonly JsonValue[]): HTMLElement {
	const groups = rows.map(groupOf)
	const columns = new Set(groups.flatMap((group) => [...group.keys()]))
	const bars = new Map<string, number>()
	for (const column of columns) {
		const most = Math.max(...groups.map((group) => Math.abs(sizeOf(column, group.get(column)))))
		// A single bar would say nothing.
		if (groups.length > 1 && most > 0 && most < Number.POSITIVE_INFINITY) bars.set(column, most)
	}
	return tableOf(app, {
		name: 'Totals',
		rows: groups,
		recordPath: undefined,
		names: {
			cell: (column, row) =>
				isRecord(row) ? totalCell(column, row.get(column), bars.get(column)) : undefined,
		},
		heading: (column) => heading(app, column, { sortable: columns }),
	})
}

/** A group with its totals as columns, which are named as in `sort`: `sum.amount`. */
function groupOf(row: JsonValue): Group {
	const group = new Map<string, JsonValue>()
	for (const [name, value] of isRecord(row) ? row : [])
		if (isRecord(value)) for (const [field, one] of value) group.set(`${name}.${field}`, one)
		else group.set(name, value)
	return group
}

const IS_TOTAL = /^(?:count$|(?:sum|avg|min|max)\.)/

/** A total as a number; 0 for a text, a date or null, and NaN in the columns of keys. */
function sizeOf(column: string, value: JsonValue | undefined): number {
	if (!IS_TOTAL.test(column)) return Number.NaN
	const text = value instanceof RawNumber || typeof value === 'string' ? plainText(value) : ''
	return Number(text) || 0
}

function totalCell(
	column: string,
	value: JsonValue | undefined,
	most: number | undefined,
): HTMLElement | undefined {
	if (most === undefined || value === undefined || value === null) return undefined
	const size = sizeOf(column, value)
	// The table says in numbers what the bars show.
	const bar = el('span', { class: size < 0 ? 'bar below' : 'bar', 'aria-hidden': 'true' })
	bar.style.width = `${(Math.abs(size) / most) * 100}%`
	return el('div', { class: 'total digits' }, plainText(value), bar)
}
