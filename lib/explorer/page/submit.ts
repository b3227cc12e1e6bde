/** Sends the request of a form and shows its outcome. */
import type { AnswerData, OperationData } from '../page-data.ts'
import { statusChip } from './answer-view.ts'
import { type App, keyOf, reasonOf, type Target } from './app.ts'
import type { BodyForm } from './body-form.ts'
import { contentOf, messageOf, problemsIn } from './content.ts'
import type { Body } from './curl.ts'
import { button, el, link } from './dom.ts'
import { isList } from './json-value.ts'
import { isPath, pathOf } from './path.ts'
import { jsonView } from './value-view.ts'

export interface Outcome extends Pick<AnswerData, 'status' | 'reason' | 'body'> {
	readonly location: string | undefined
}

/** @param onDone called after a success, instead of loading the page again */
export async function submit(
	app: App,
	operation: OperationData,
	body: Body | undefined,
	form: BodyForm,
	onDone?: () => void,
): Promise<void> {
	// A double click must not create two records.
	if (form.element.getAttribute('aria-busy') === 'true') return
	const { navigation } = app
	const url = app.urlFor(operation)
	form.element.setAttribute('aria-busy', 'true')
	try {
		const outcome = await send(app, operation, body)
		if (outcome.status < 400) await showSuccess(app, operation, navigation, outcome, onDone)
		// If the user has left the page, the form is gone, so a notice reports the failure.
		else if (!form.element.isConnected) app.notify(`${operation.method} ${url}: ${messageOf(outcome)}`)
		else showFailure(app, form, outcome)
	} catch (error) {
		if (form.element.isConnected) form.showProblems(reasonOf(error), [])
		else app.notify(`${operation.method} ${url}: ${reasonOf(error)}`)
	} finally {
		form.element.removeAttribute('aria-busy')
	}
}

/** Sends an operation's request. @throws what `fetch` throws */
export async function send(app: App, operation: Target, body: Body | undefined): Promise<Outcome> {
	const { method } = operation
	const headers = new Headers([['Accept', 'application/json'], ...app.headersFor(operation, body)])
	const answer = await app.fetch(app.urlFor(operation), {
		method,
		headers,
		...(body === undefined ? {} : { body }),
	})
	return {
		status: answer.status,
		reason: answer.statusText,
		location: answer.headers.get('location') ?? undefined,
		body: await answer.text(),
	}
}

function showFailure(app: App, form: BodyForm, outcome: Outcome): void {
	const problems = problemsIn(contentOf(outcome).data)
	// Problems with a list name the record, too: `1.title`.
	const isOfMany = /^\d+(?:\.|$)/.test(problems[0]?.field ?? '')
	if (outcome.status === 412) {
		const load = button('Load what is there now', { 'data-key': 'load current' }, () => {
			const announcement = 'This is what is there now. What you typed is kept.'
			void app.go(app.url, { push: false, announcement })
		})
		const text = 'Somebody has changed this since you read it. Nothing was saved; what you typed is kept.'
		form.showProblems(text, problems, load)
		load.focus()
		return
	}
	const isInvalid = isOfMany || (problems.length > 0 && outcome.status === 422)
	const text = isInvalid ? 'Nothing was saved: something isn’t right yet.' : messageOf(outcome)
	form.showProblems(text, problems)
}

/** Shows a notice and reloads the page; after a DELETE, its parent instead. */
async function showSuccess(
	app: App,
	operation: OperationData,
	navigation: number,
	outcome: Outcome,
	onDone?: () => void,
): Promise<void> {
	const { method, restores } = operation
	const { location } = outcome
	const path = pathOf(app.url)
	const text = successText(operation, outcome)
	const created = location !== undefined && isPath(location) ? location : undefined
	const record = created === undefined ? undefined : link(created, created, { 'data-key': 'made' })
	const isDeleted = method === 'DELETE'
	const undo =
		isDeleted &&
		canRestore(app) &&
		link(`${path}?deleted=only`, onDone === undefined ? 'It can be restored' : 'See the deleted records')
	const answer = outcome.body === '' ? '' : answerDetails(app, outcome, method)
	app.notify(text, record ?? (undo || ''), statusChip(outcome), answer)
	// The user may have navigated meanwhile.
	if (navigation !== app.navigation) return
	app.drafts.delete(keyOf(operation))
	app.expanded.delete(keyOf(operation))
	if (operation.matched !== undefined) app.selected.clear()
	record?.focus()
	const parent = app.data.crumbs.slice(0, -1).findLast(({ url }) => url !== undefined)?.url
	if (onDone !== undefined) return onDone()
	if (isDeleted && parent !== undefined) await app.go(parent, { keepsNotice: true })
	else await app.go(restores ? path : app.url, { push: false, keepsNotice: true })
	if (record === undefined && !isDeleted) app.focusHeading()
}

function successText({ method, restores }: OperationData, outcome: Outcome): string {
	if (outcome.status === 201) return 'Created.'
	if (restores) return 'Restored.'
	const { data } = contentOf(outcome)
	if (method === 'DELETE') return isList(data) ? `${data.length} deleted.` : 'Deleted.'
	if (method === 'PATCH') return isList(data) ? `${data.length} saved.` : 'Saved.'
	return method === 'PUT' ? 'Replaced.' : 'Done.'
}

/** Whether the caller can restore records of this path that are deleted. */
export function canRestore({ data }: App): boolean {
	return data.operations.some(({ query }) => query.some(({ role }) => role === 'deleted'))
}

function answerDetails(app: App, { body, location }: Outcome, method: string): HTMLElement {
	// With a Location, its link is enough; otherwise the answer is what the user wants to see.
	const isOpen = location === undefined && (method === 'POST' || method === 'QUERY')
	return el('details', { open: isOpen }, el('summary', {}, 'Answer'), jsonView(body, app.data.roots))
}
