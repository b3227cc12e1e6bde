/** The selected records of the page's list, and how they are changed together. Used by `selection.ts` and `body-form.ts`. */
import type { OperationData } from '../page-data.ts'
import type { App } from './app.ts'
import { type Problem, shownContent } from './content.ts'
import { el } from './dom.ts'
import { isList, isRecord, type JsonValue } from './json-value.ts'
import { keyFields, recordUrl } from './list-query.ts'
import type { Row } from './related-names.ts'

export function changesSelected({ data }: App, { matched }: OperationData): boolean {
	return matched !== undefined && keyFields(data.recordPath).length > 0
}

export function selectedRows(app: App): Row[] {
	const { data } = shownContent(app)
	const rows = isList(data) ? data.filter((row) => isRecord(row)) : []
	return rows.filter((row) => app.selected.has(segmentIn(app, row) ?? ''))
}

/** The last segment of a record's URL; `undefined` if the row doesn't have its key. */
export function segmentIn({ data }: App, row: JsonValue): string | undefined {
	return recordUrl(data.recordPath, row)?.split('/').at(-1)
}

export function recordsOf(count: number): string {
	return count === 1 ? '1 record' : `${count} records`
}

/** A hint on which records a form changes, updated with the selection. */
export function selectedNote(app: App): HTMLElement {
	const note = el('p', { class: 'hint' })
	app.onSelect = () => {
		const count = selectedRows(app).length
		note.textContent =
			count === 0
				? SELECT_FIRST
				: `What you fill in is set in ${recordsOf(count)}; their other fields stay as they are.`
	}
	app.onSelect()
	return note
}

export const SELECT_FIRST = 'First select the records in the table.'

/** Problems with records of a list, such as `1.title`, by field: each problem once, with the records that have it. */
export function problemsOf(app: App, rows: readonly Row[], problems: readonly Problem[]): Problem[] {
	const found = new Map<string, Problem & { readonly records: string[] }>()
	for (const { field: place, message } of problems) {
		const [, at, field = place] = /^(\d+)\.?(.*)$/.exec(place) ?? []
		const key = `${field}\n${message}`
		const one = found.get(key) ?? { field, message, records: [] }
		const row = rows[Number(at)]
		if (row !== undefined) one.records.push(segmentIn(app, row) ?? '')
		found.set(key, one)
	}
	return [...found.values()].map(({ field, message, records }) => ({
		field,
		message:
			records.length === 0
				? message
				: `record${records.length > 1 ? 's' : ''} ${records.join(', ')}: ${message}`,
	}))
}
