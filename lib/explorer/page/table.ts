/** A list as a table, with a column for each field, sort buttons, and a link to each record. */
import type { App } from './app.ts'
import { button, el, link } from './dom.ts'
import { plainText } from './fields.ts'
import { isRecord, type JsonValue, RawNumber } from './json-value.ts'
import { isOfDeleted, keyFields, type ListFeatures, recordUrl, sortOf, toggledSort } from './list-query.ts'
import { pageNames, type RelatedNames } from './related-names.ts'
import { cellValue } from './value-view.ts'

const MAX_COLUMNS = 60
/** Ten thousand rows would keep a browser busy for seconds. */
const MAX_ROWS = 1_000

/** The checkboxes of a table. */
export interface RowSelection {
	readonly heading: HTMLElement
	cell(row: JsonValue, at: number): HTMLElement
	/** The tools for the selected rows; called after all cells were made. */
	foot(): HTMLElement
}

/** A list to show as a table. */
export interface TableParts {
	readonly name: string
	readonly rows: readonly JsonValue[]
	/** URL template of the rows' own pages. */
	readonly recordPath: string | undefined
	/** Makes the cells that differ from plain values. */
	readonly names: Pick<RelatedNames, 'cell'>
	heading(column: string): HTMLElement
	/** The checkboxes; `undefined` for none. */
	readonly selection?: RowSelection | undefined
	/** Columns to leave out. */
	readonly hidden?: readonly string[]
	/** Makes a button for a row. */
	readonly action?: ((row: JsonValue, at: number) => HTMLElement) | undefined
}

/** The page's own list, sorted by its headings. */
export function tableView(
	app: App,
	rows: readonly JsonValue[],
	features: ListFeatures,
	selection?: RowSelection,
): HTMLElement {
	return tableOf(app, {
		name: app.data.crumbs.at(-1)?.text || 'Records',
		recordPath: ownRecordPath(app),
		names: pageNames(app),
		rows,
		selection,
		heading: (column) => heading(app, column, features),
	})
}

/** The pages of deleted records need `?deleted=only`. */
function ownRecordPath({ data, url }: App): string | undefined {
	return data.recordPath && isOfDeleted(url) ? `${data.recordPath}?deleted=only` : data.recordPath
}

export function tableOf(app: App, parts: TableParts): HTMLElement {
	const { name, rows, recordPath, names, selection, hidden = [], action } = parts
	const found = columnsOf(rows)
	const all = found.some((column) => !hidden.includes(column))
		? found.filter((column) => !hidden.includes(column))
		: found
	const columns = all.slice(0, MAX_COLUMNS)
	const keys = keyFields(recordPath)
	const head = columns.map((column) => parts.heading(column))
	if (selection !== undefined) head.unshift(selection.heading)
	if (action !== undefined) head.push(el('th', { scope: 'col' }, el('span', { class: 'hidden' }, 'Actions')))
	const body = rows.slice(0, MAX_ROWS).map((row, at) => {
		const url = recordUrl(recordPath, row)
		const cells = columns.map((column) => {
			const ownUrl = keys.includes(column) ? url : undefined
			return cell(app, valueIn(row, column), ownUrl, names.cell(column, row, ownUrl))
		})
		if (selection !== undefined) cells.unshift(selection.cell(row, at))
		return el('tr', {}, ...cells, action !== undefined && el('td', { class: 'act' }, action(row, at)))
	})
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
		rows.length > MAX_ROWS && truncationNote(MAX_ROWS, rows.length),
		all.length > MAX_COLUMNS && truncationNote(MAX_COLUMNS, all.length, ' columns'),
		selection?.foot(),
	)
}

export function truncationNote(shown: number, all: number, what = ''): HTMLElement {
	return el('p', { class: 'note' }, `The first ${shown} of ${all}${what}: all of them are in the JSON.`)
}

/** The fields of all rows, in order of appearance; one column `value` for rows that aren't objects. */
function columnsOf(rows: readonly JsonValue[]): string[] {
	const names = new Set<string>()
	for (const row of rows) for (const name of isRecord(row) ? row.keys() : ['value']) names.add(name)
	return [...names]
}

function valueIn(row: JsonValue, column: string): JsonValue | undefined {
	return isRecord(row) ? row.get(column) : row
}

export function heading(app: App, column: string, { sortable }: Pick<ListFeatures, 'sortable'>): HTMLElement {
	if (!sortable.has(column)) return el('th', { scope: 'col' }, column)
	const { field, isDescending } = sortOf(app.url)
	const isSorted = field === column
	const direction = isDescending ? 'descending' : 'ascending'
	const sign = isSorted ? (isDescending ? '↓' : '↑') : '↕'
	const arrow = el('span', { class: 'arrow', 'aria-hidden': 'true' }, sign)
	const sort = button([column, arrow], { class: 'sort', 'data-key': `sort ${column}` }, () => {
		const url = toggledSort(app.url, column)
		const next = sortOf(url)
		const announcement =
			next.field === column
				? `Sorted by ${column}, ${next.isDescending ? 'descending' : 'ascending'}`
				: 'Not sorted'
		void app.go(url, { announcement })
	})
	return el('th', { scope: 'col', 'aria-sort': isSorted ? direction : undefined }, sort)
}

function cell(
	app: App,
	value: JsonValue | undefined,
	url: string | undefined,
	related: HTMLElement | undefined,
): HTMLElement {
	const attributes = { class: value instanceof RawNumber && 'digits' }
	if (related !== undefined)
		return url === undefined ? el('td', {}, related) : el('th', { scope: 'row' }, related)
	if (url === undefined || value === undefined) return el('td', attributes, cellValue(value, app.data.roots))
	return el('th', { ...attributes, scope: 'row' }, link(url, plainText(value), { class: 'clip' }))
}
