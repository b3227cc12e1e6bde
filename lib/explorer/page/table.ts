/** A list as a table: a column a field, sorted by its headings, each record's key a link to it. */
import type { App } from './app.ts'
import { button, el, link } from './dom.ts'
import { plainText } from './fields.ts'
import { isRecord, type JsonValue, RawNumber } from './json-value.ts'
import { type ListOffers, recordUrl, sortedBy, sortOf } from './list-query.ts'
import { cellValue } from './value-view.ts'

const MOST_COLUMNS = 60
/** Ten thousand rows would keep a browser busy for seconds. */
const MOST_ROWS = 1_000

export function tableView(app: App, rows: readonly JsonValue[], offers: ListOffers): HTMLElement {
	const all = namesIn(rows)
	const columns = all.slice(0, MOST_COLUMNS)
	const key = keyIn(app.data.recordPath, columns)
	const name = app.data.crumbs.at(-1)?.text || 'Records'
	const head = columns.map((column) => heading(app, column, offers))
	const body = rows
		.slice(0, MOST_ROWS)
		.map((row) => el('tr', {}, ...columns.map((column) => cell(app, valueIn(row, column), column === key))))
	const table = el(
		'table',
		{},
		el('caption', { class: 'hidden' }, `${name}, ${body.length} shown`),
		el('thead', {}, el('tr', {}, ...head)),
		el('tbody', {}, ...body),
	)
	return el(
		'div',
		{},
		el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `${name}, a table` }, table),
		rows.length > MOST_ROWS && beginning(MOST_ROWS, rows.length),
		all.length > MOST_COLUMNS && beginning(MOST_COLUMNS, all.length, ' columns'),
	)
}

/** Says that not all is shown. */
export function beginning(shown: number, all: number, what = ''): HTMLElement {
	return el('p', { class: 'note' }, `The first ${shown} of ${all}${what}: all of them are in the JSON.`)
}

/** Names in the order in which they come first; of values without names one column. */
function namesIn(rows: readonly JsonValue[]): string[] {
	const names = new Set<string>()
	for (const row of rows) for (const name of isRecord(row) ? row.keys() : ['value']) names.add(name)
	return [...names]
}

/** The column that names a record, as the path calls it. */
function keyIn(recordPath: string | undefined, columns: readonly string[]): string | undefined {
	const [, name] = /\{([^}]*)\}$/.exec(recordPath ?? '') ?? []
	return columns.find((column) => column === name)
}

function valueIn(row: JsonValue, column: string): JsonValue | undefined {
	return isRecord(row) ? row.get(column) : row
}

function heading(app: App, column: string, { sortable }: ListOffers): HTMLElement {
	if (!sortable.has(column)) return el('th', { scope: 'col' }, column)
	const { field, isDescending } = sortOf(app.url)
	const isSorted = field === column
	const direction = isDescending ? 'descending' : 'ascending'
	const arrow = el(
		'span',
		{ class: 'arrow', 'aria-hidden': 'true' },
		isSorted ? (isDescending ? '↓' : '↑') : '↕',
	)
	const sort = button([column, arrow], { class: 'sort', 'data-key': `sort ${column}` }, () => {
		const url = sortedBy(app.url, column)
		const now = sortOf(url)
		const order =
			now.field === column
				? `Sorted by ${column}, ${now.isDescending ? 'descending' : 'ascending'}`
				: 'Not sorted'
		void app.go(url, { whisper: order })
	})
	return el('th', { scope: 'col', 'aria-sort': isSorted ? direction : undefined }, sort)
}

function cell(app: App, value: JsonValue | undefined, isKey: boolean): HTMLElement {
	const attributes = { class: value instanceof RawNumber && 'digits' }
	const url = isKey ? recordUrl(app.data.recordPath, value) : undefined
	if (url === undefined || value === undefined) return el('td', attributes, cellValue(value, app.data.roots))
	return el('th', { ...attributes, scope: 'row' }, link(url, plainText(value), { class: 'clip' }))
}
