/** Records that are selected in the page's list, to be changed or deleted together. Called by `main.ts`. */
import { openCard } from './actions.ts'
import type { App } from './app.ts'
import { buttonForm, confirmDialog } from './confirm.ts'
import { button, checkbox, el } from './dom.ts'
import { featuresOf, keyFields, urlOfRows } from './list-query.ts'
import { pathOf } from './path.ts'
import { submit } from './submit.ts'
import type { RowSelection } from './table.ts'
import { changesSelected, recordsOf, segmentIn, selectedRows } from './together.ts'

/** @returns `undefined` if the caller can neither change nor delete records of this list together */
export function selectionOf(app: App): RowSelection | undefined {
	const { operations } = app.data
	const change = operations.find((one) => changesSelected(app, one))
	const removal = removalOf(app)
	if (change === undefined && removal === undefined) return undefined
	const { selected } = app
	const boxes = new Map<string, HTMLInputElement>()
	const all = checkbox(false, { 'aria-label': 'Select all on this page', 'data-key': 'select all' })
	const status = el('p', { role: 'status' })
	const actions = el(
		'div',
		{ class: 'form-foot' },
		change !== undefined &&
			button('Change selected…', { 'data-key': 'change selected' }, () => openCard(change)),
		removal?.element,
	)
	const verbs = [...(change === undefined ? [] : ['change']), ...(removal === undefined ? [] : ['delete'])]
	const show = () => {
		const count = selectedRows(app).length
		for (const [segment, box] of boxes) box.checked = selected.has(segment)
		all.checked = count > 0 && count === boxes.size
		all.indeterminate = count > 0 && count < boxes.size
		status.textContent =
			count === 0 ? `Select records to ${verbs.join(' or ')} them.` : `${recordsOf(count)} selected`
		actions.hidden = count === 0
		app.onSelect()
	}
	const select = (segment: string, isSelected: boolean) => {
		if (isSelected) selected.add(segment)
		else selected.delete(segment)
	}
	all.addEventListener('change', () => {
		for (const segment of boxes.keys()) select(segment, all.checked)
		show()
	})
	return {
		heading: el('th', { scope: 'col', class: 'pick' }, all),
		cell(row, at) {
			const segment = segmentIn(app, row)
			if (segment === undefined) return el('td')
			const box = checkbox(selected.has(segment), {
				...{ 'aria-label': `Select ${segment}`, 'data-key': `select ${at}` },
			})
			box.addEventListener('change', () => {
				select(segment, box.checked)
				show()
			})
			boxes.set(segment, box)
			return el('td', { class: 'pick' }, box)
		},
		foot() {
			show()
			return el('div', { class: 'pager selection' }, status, actions, removal?.alert, removal?.dialog)
		},
	}
}

/** The form and dialog that delete the selected records; `undefined` if the caller can't. */
function removalOf(app: App) {
	const { operations, recordPath } = app.data
	const operation = operations.find(({ method, isAllowed }) => method === 'DELETE' && isAllowed)
	const keys = keyFields(recordPath)
	const { filters } = featuresOf(operation?.query ?? [])
	if (operation === undefined || keys.length === 0 || !keys.every((key) => filters.has(key))) return undefined
	const form = buttonForm()
	const send = () => {
		const url = urlOfRows(pathOf(app.url), keys, selectedRows(app), filters)
		const reload = () => void app.go(app.url, { push: false, keepsNotice: true })
		void submit(app, { ...operation, url }, undefined, form, reload)
	}
	const { dialog, open } = confirmDialog(app, send, () => {
		const rows = selectedRows(app)
		return { name: recordsOf(rows.length), place: rows.map((row) => segmentIn(app, row)).join(' ') }
	})
	form.element.append(button('Delete selected…', { class: 'danger', 'data-key': 'delete selected' }, open))
	return { ...form, dialog }
}
