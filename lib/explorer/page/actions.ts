/** The forms for the methods of this path other than reading it, and a list of those that need credentials. */
import type { OperationData } from '../page-data.ts'
import { type App, keyOf } from './app.ts'
import { type BodyForm, bodyForm, type FormContext, focusIn } from './body-form.ts'
import { buttonForm, confirmDialog } from './confirm.ts'
import { shownContent } from './content.ts'
import type { Body } from './curl.ts'
import { button, el, link } from './dom.ts'
import { importForm } from './import-form.ts'
import { pathOf } from './path.ts'
import { queryForm } from './query-form.ts'
import { pageNames } from './related-names.ts'
import { submit } from './submit.ts'

export function actionsView(app: App): HTMLElement | undefined {
	const operations = shownOperations(app.data.operations)
	const open = operations.filter(({ isAllowed }) => isAllowed)
	const locked = operations.filter(({ isAllowed, method }) => !isAllowed && method !== 'QUERY')
	if (operations.length === 0) return undefined
	const isFound = (app.data.answer?.status ?? 404) < 400
	return el(
		'section',
		{ class: 'actions', 'aria-label': 'Actions' },
		...open.map((operation, at) =>
			operationCard(
				app,
				operation,
				operation.restores ||
					operation.isTotals ||
					(at === 0 && operation.method === (isFound ? 'PATCH' : 'GET')),
			),
		),
		locked.length > 0 &&
			el(
				'p',
				{ class: 'locked' },
				...locked.flatMap(({ method }) => [methodBadge(method), ' ']),
				`${locked.length === 1 ? 'needs' : 'need'} ${app.data.user === undefined ? '' : 'other '}credentials.`,
			),
	)
}

function shownOperations(operations: readonly OperationData[]): OperationData[] {
	const ordered = distinctOperations(operations).sort(
		(a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method),
	)
	return ordered.filter(({ method, isAllowed, query }) => {
		// Records are selected in their table to be deleted together.
		if (method === 'DELETE') return !query.some(({ role }) => role === 'filter')
		return method !== 'GET' || (isAllowed && query.some(({ role }) => role === undefined))
	})
}

/** The most frequently used first. */
const ORDER = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'QUERY']

/** Leaves out aliases: POST to a record is PATCH, and QUERY to a list is GET. */
export function distinctOperations<O extends { method: string; summary: string }>(
	operations: readonly O[],
): O[] {
	const isAlias = (operation: O, method: string) =>
		operation.summary !== '' &&
		operations.some((other) => other.method === method && other.summary === operation.summary)
	return operations.filter((operation) => {
		if (operation.method === 'POST') return !isAlias(operation, 'PATCH')
		return operation.method !== 'QUERY' || !isAlias(operation, 'GET')
	})
}

export function methodBadge(method: string): HTMLElement {
	return el('span', { class: `method ${method.toLowerCase()}` }, method)
}

/** A form that opens and closes. */
export function operationCard(
	app: App,
	operation: OperationData,
	isOpen: boolean,
	context?: FormContext,
): HTMLElement {
	const key = keyOf(operation)
	const summary = el(
		'summary',
		{ 'data-key': `operation ${key}` },
		methodBadge(operation.method),
		el('span', {}, operation.summary),
	)
	const open = app.expanded.get(key) ?? (isOpen || app.drafts.has(key))
	const card = el('details', { class: 'card operation', open }, summary, formFor(app, operation, context))
	// `click` comes before the card opens or closes; `toggle` would also fire for a card that is created open.
	summary.addEventListener('click', () => app.expanded.set(key, !card.open))
	return card
}

/** Opens the form of an operation, and focuses its first input. */
export function openCard(operation: OperationData): void {
	const summary = document.querySelector<HTMLElement>(`[data-key="operation ${keyOf(operation)}"]`)
	const card = summary?.closest('details')
	if (!card?.open) summary?.click()
	focusIn(card)
}

function formFor(app: App, operation: OperationData, context?: FormContext): HTMLElement {
	const { method } = operation
	if (method === 'GET') return queryForm(app, operation)
	if (operation.restores) return restoreForm(app, operation)
	if (operation.imports) return importForm(app, operation)
	if (method === 'DELETE') return deleteForm(app, operation)
	if (method === 'PUT' && !hasWholeRecord(app)) return wholeRecordHint(app)
	const { answer } = app.data
	const isChange = (method === 'PATCH' || method === 'PUT') && answer !== undefined && answer.status < 400
	const record = isChange ? shownContent(app).data : undefined
	const own = { relations: app.data.relations, names: isChange ? pageNames(app) : undefined }
	const send = (body: Body | undefined, form: BodyForm) =>
		void submit(app, operation, body, form, context?.onDone)
	return bodyForm(app, operation, record, send, context ?? own).element
}

/** Whether the page shows all that GET returns at this path: a PUT form made from less would lose fields. */
function hasWholeRecord(app: App): boolean {
	const { data, url } = app
	const { answer, operations } = data
	const isReadable = operations.some(({ method, isAllowed }) => method === 'GET' && isAllowed)
	if (!isReadable || answer === undefined) return true
	const { status, note } = answer
	// A temporary failure: the record is unknown.
	if (status === 429 || status >= 500) return false
	return url === pathOf(url) && note === undefined && shownContent(app).data !== undefined
}

/** Instead of a PUT form that would lose fields. */
function wholeRecordHint({ data, url }: App): HTMLElement {
	const path = pathOf(url)
	const canBeShown = url !== path || (data.answer?.status ?? 0) >= 400
	return el(
		'div',
		{ class: 'aside' },
		el('p', {}, 'Replacing takes the whole record, and this page may not have all of it.'),
		canBeShown && link(path, 'Show the whole record', { class: 'button', 'data-key': 'whole' }),
	)
}

/** A button that deletes after a confirmation, or a form if the method takes a body. */
function deleteForm(app: App, operation: OperationData): HTMLElement {
	if (operation.body !== undefined) {
		let body: Body | undefined
		const confirm = confirmDialog(app, () => void submit(app, operation, body, form))
		const form = bodyForm(app, operation, undefined, (text) => {
			body = text
			confirm.open()
		})
		return el('div', {}, form.element, confirm.dialog)
	}
	const form = buttonForm()
	const send = () => void submit(app, operation, undefined, form)
	const { dialog, open } = confirmDialog(app, send)
	form.element.append(button('Delete…', { class: 'danger', 'data-key': 'delete' }, open))
	return el('div', { class: 'aside' }, form.alert, form.element, dialog)
}

function restoreForm(app: App, operation: OperationData): HTMLElement {
	const form = buttonForm()
	const send = () => void submit(app, operation, undefined, form)
	form.element.append(button('Restore', { class: 'primary', 'data-key': 'restore' }, send))
	return el('div', { class: 'aside' }, form.alert, form.element)
}
