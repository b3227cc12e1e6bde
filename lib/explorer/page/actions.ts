/** What can be done at this path beside reading it: a form for each method, and what needs credentials. */
import type { OperationData } from '../page-data.ts'
import { contentOf } from './answer-view.ts'
import type { App } from './app.ts'
import { bodyForm } from './body-form.ts'
import type { Body } from './curl.ts'
import { button, el, labelled, link, star } from './dom.ts'
import { pathOf } from './path.ts'
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
			operationCard(app, operation, at === 0 && operation.method === (isFound ? 'PATCH' : 'GET')),
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
	const ordered = distinctOperations(operations).sort((a, b) => placeOf(a) - placeOf(b))
	return ordered.filter(
		({ method, isAllowed, query }) =>
			method !== 'GET' || (isAllowed && query.some(({ role }) => role === undefined)),
	)
}

function placeOf({ method }: OperationData): number {
	const place = ORDER.indexOf(method)
	return place === -1 ? ORDER.length : place
}

/** The most frequent first. */
const ORDER = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']

/** POST to a record does what PATCH does. QUERY to a list asks what its URL asks. */
export function distinctOperations<O extends { method: string; summary: string }>(
	operations: readonly O[],
): O[] {
	const twin = (operation: O, method: string) =>
		operation.summary !== '' &&
		operations.some((other) => other.method === method && other.summary === operation.summary)
	return operations.filter((operation) => {
		if (operation.method === 'POST') return !twin(operation, 'PATCH')
		return operation.method !== 'QUERY' || !twin(operation, 'GET')
	})
}

export function methodBadge(method: string): HTMLElement {
	return el('span', { class: `method ${method.toLowerCase()}` }, method)
}

function operationCard(app: App, operation: OperationData, isOpen: boolean): HTMLElement {
	const summary = el(
		'summary',
		{ 'data-key': `operation ${operation.method}` },
		methodBadge(operation.method),
		el('span', {}, operation.summary),
	)
	const open = app.unfolded.get(operation.method) ?? (isOpen || app.drafts.has(operation.method))
	const card = el('details', { class: 'card operation', open }, summary, formFor(app, operation))
	// `click` comes before the card opens or closes; `toggle` would also fire for a card that is made open.
	summary.addEventListener('click', () => app.unfolded.set(operation.method, !card.open))
	return card
}

/** Methods whose form begins with the present record. */
const RECORD_METHODS: ReadonlySet<string> = new Set(['PATCH', 'PUT'])

function formFor(app: App, operation: OperationData): HTMLElement {
	if (operation.method === 'GET') return queryForm(app, operation)
	if (operation.method === 'DELETE') return deletePart(app, operation)
	if (operation.method === 'PUT' && !hasWhole(app)) return wholeFirst(app)
	const { answer } = app.data
	const isRecord = RECORD_METHODS.has(operation.method) && answer !== undefined && answer.status < 400
	const record = isRecord ? contentOf(answer).data : undefined
	return bodyForm(app, operation, record, (body, form) => void submit(app, operation, body, form)).element
}

/** Whether the page shows all that GET answers at this path, or GET answers nothing that a PUT could lose. */
function hasWhole({ data, url }: App): boolean {
	const { answer, operations } = data
	const isRead = operations.some(({ method, isAllowed }) => method === 'GET' && isAllowed)
	if (!isRead || answer === undefined) return true
	const { status, note } = answer
	// The server can't tell now what is there.
	if (status === 429 || status >= 500) return false
	return url === pathOf(url) && note === undefined && contentOf(answer).data !== undefined
}

/** PUT replaces the whole record: a form made from a part of it would lose the rest. */
function wholeFirst({ data, url }: App): HTMLElement {
	const path = pathOf(url)
	const canBeShown = url !== path || (data.answer?.status ?? 0) >= 400
	return el(
		'div',
		{ class: 'aside' },
		el('p', {}, 'Replacing takes the whole record, and this page may not have all of it.'),
		canBeShown && link(path, 'Show the whole record', { class: 'button', 'data-key': 'whole' }),
	)
}

/** What a method reads of the query. Its inputs have no names: one called `append` would be the form's. */
function queryForm(app: App, { query }: OperationData): HTMLElement {
	const path = pathOf(app.url)
	const now = new URLSearchParams(app.url.slice(path.length))
	const inputs: (readonly [string, HTMLInputElement])[] = []
	const fields = query
		.filter(({ role }) => role === undefined)
		.map(({ name, required, description }) => {
			const input = el('input', { type: 'text', 'aria-required': required && 'true' })
			input.value = now.get(name) ?? ''
			inputs.push([name, input])
			const hint = description !== undefined && el('p', { class: 'hint' }, description)
			return el('div', { class: 'field' }, labelled([name, required && star()], input), hint)
		})
	const ask = el('button', { type: 'submit', class: 'primary', 'data-key': 'ask' }, 'Ask')
	const form = el(
		'form',
		{},
		el('div', { class: 'inputs' }, ...fields),
		el('div', { class: 'form-foot' }, ask),
	)
	form.addEventListener('submit', (event) => {
		event.preventDefault()
		const pairs = inputs.filter(([, { value }]) => value !== '').map(([name, { value }]) => [name, value])
		const text = new URLSearchParams(pairs).toString()
		void app.go(text === '' ? path : `${path}?${text}`)
	})
	return form
}

/** Asks before anything is deleted, with a form where the method takes a body. */
function deletePart(app: App, operation: OperationData): HTMLElement {
	if (operation.body !== undefined) {
		const asked = question(app, () => void submit(app, operation, body, made))
		let body: Body | undefined
		const made = bodyForm(app, operation, undefined, (text) => {
			body = text
			asked.open()
		})
		return el('div', {}, made.element, asked.dialog)
	}
	const alert = el('div', { class: 'alert', role: 'alert' })
	const complain = (message: string, _: readonly unknown[], ...more: readonly HTMLElement[]) =>
		alert.replaceChildren(el('p', {}, message), ...more)
	const form = el('form')
	const { dialog, open } = question(
		app,
		() => void submit(app, operation, undefined, { element: form, complain }),
	)
	form.append(button('Delete…', { class: 'danger', 'data-key': 'delete' }, open))
	return el('div', { class: 'aside' }, alert, form, dialog)
}

function question(app: App, onSure: () => void): { dialog: HTMLDialogElement; open: () => void } {
	const dialog = el('dialog', { 'aria-labelledby': 'delete-title' })
	const cancel = button('Cancel', {}, () => dialog.close())
	const sure = button('Delete', { class: 'danger' }, () => {
		dialog.close()
		onSure()
	})
	dialog.append(
		el('h2', { id: 'delete-title' }, 'Delete this for good?'),
		el('p', { class: 'path' }, app.urlFor('DELETE')),
		el('div', { class: 'form-foot' }, cancel, sure),
	)
	const open = () => {
		dialog.showModal()
		cancel.focus()
	}
	return { dialog, open }
}
