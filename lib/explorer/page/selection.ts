/** Records that are selected in the page's list, to be deleted together. Called by `main.ts`. */
import type { App } from './app.ts'
import { buttonForm, confirmDialog } from './confirm.ts'
import { button, el } from './dom.ts'
import type { JsonValue } from './json-value.ts'
import { featuresOf, keyFields, recordUrl, urlOfRows } from './list-query.ts'
import { pathOf } from './path.ts'
import { submit } from './submit.ts'
import type { RowSelection } from './table.ts'

interface Choice {
	readonly at: number
	readonly row: JsonValue
	readonly box: HTMLInputElement
}

/** @returns `undefined` if the caller can't delete records of this list together */
export function selectionOf(app: App): RowSelection | undefined {
	const { operations, recordPath } = app.data
	const operation = operations.find(({ method, isAllowed }) => method === 'DELETE' && isAllowed)
	const keys = keyFields(recordPath)
	const { filters } = featuresOf(operation?.query ?? [])
	if (operation === undefined || keys.length === 0 || !keys.every((key) => filters.has(key))) return undefined
	// Kept while the same records are shown in other ways.
	const selected = app.once('selected', () => new Set<number>())
	const choices: Choice[] = []
	const chosen = () => choices.filter(({ at }) => selected.has(at))
	const all = checkbox('Select all on this page', 'select all')
	const status = el('p', { role: 'status' })
	const form = buttonForm()
	const send = () => {
		const url = urlOfRows(...([pathOf(app.url), keys, chosen().map(({ row }) => row), filters] as const))
		const reload = () => void app.go(app.url, { push: false, keepsNotice: true })
		void submit(app, { ...operation, url }, undefined, form, reload)
	}
	const { dialog, open } = confirmDialog(app, send, () => ({
		name: recordsOf(chosen().length),
		place: chosen()
			.map(({ row }) => segmentIn(recordPath, row))
			.join(' '),
	}))
	const remove = button('Delete selected…', { class: 'danger', 'data-key': 'delete selected' }, open)
	form.element.append(remove)
	const show = () => {
		const count = chosen().length
		for (const { at, box } of choices) box.checked = selected.has(at)
		all.checked = count > 0 && count === choices.length
		all.indeterminate = count > 0 && count < choices.length
		status.textContent = count === 0 ? 'Select records to delete them.' : `${recordsOf(count)} selected`
		form.element.hidden = count === 0
	}
	all.addEventListener('change', () => {
		for (const { at } of choices) select(selected, at, all.checked)
		show()
	})
	return {
		heading: el('th', { scope: 'col', class: 'pick' }, all),
		cell(row, at) {
			const segment = segmentIn(recordPath, row)
			if (segment === undefined) return el('td')
			const box = checkbox(`Select ${segment}`, `select ${at}`)
			box.addEventListener('change', () => {
				select(selected, at, box.checked)
				show()
			})
			choices.push({ at, row, box })
			return el('td', { class: 'pick' }, box)
		},
		foot() {
			show()
			return el('div', { class: 'pager selection' }, status, form.element, form.alert, dialog)
		},
	}
}

function checkbox(name: string, key: string): HTMLInputElement {
	return el('input', { type: 'checkbox', 'aria-label': name, 'data-key': key })
}

function select(selected: Set<number>, at: number, isSelected: boolean): void {
	if (isSelected) selected.add(at)
	else selected.delete(at)
}

function recordsOf(count: number): string {
	return count === 1 ? '1 record' : `${count} records`
}

/** The last segment of a record's URL; `undefined` if the row doesn't have its key. */
function segmentIn(recordPath: string | undefined, row: JsonValue): string | undefined {
	return recordUrl(recordPath, row)?.split('/').at(-1)
}
