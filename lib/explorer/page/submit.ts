/** Sends what a form was filled with, and shows what became of it. */
import type { OperationData } from '../page-data.ts'
import { contentOf, problemsIn, statusChip } from './answer-view.ts'
import { type App, reasonOf } from './app.ts'
import type { BodyForm } from './body-form.ts'
import type { Body } from './curl.ts'
import { button, el, link } from './dom.ts'
import { isRecord, type JsonValue } from './json-value.ts'
import { isPath } from './path.ts'
import { jsonView } from './value-view.ts'

interface Outcome {
	readonly status: number
	readonly reason: string
	readonly location: string | undefined
	readonly body: string
}

export async function submit(
	app: App,
	operation: OperationData,
	body: Body | undefined,
	form: BodyForm,
): Promise<void> {
	// A second click would make a second record.
	if (form.element.getAttribute('aria-busy') === 'true') return
	const { turn } = app
	const url = app.urlFor(operation.method)
	form.element.setAttribute('aria-busy', 'true')
	try {
		const outcome = await sent(app, url, operation.method, body)
		if (outcome.status < 400) await done(app, operation, turn, outcome)
		// The user has left the page and can't see the form: a notice says that it failed.
		else if (!form.element.isConnected) app.say(`${operation.method} ${url}: ${refusalIn(outcome)}`)
		else refused(app, form, outcome)
	} catch (error) {
		if (form.element.isConnected) form.complain(reasonOf(error), [])
		else app.say(`${operation.method} ${url}: ${reasonOf(error)}`)
	} finally {
		form.element.removeAttribute('aria-busy')
	}
}

async function sent(app: App, url: string, method: string, body: Body | undefined): Promise<Outcome> {
	const headers = new Headers([['Accept', 'application/json'], ...app.headersFor(method, body)])
	// A body has no undefined: exact optional properties.
	const answer = await app.session.send(url, { method, headers, ...(body === undefined ? {} : { body }) })
	return {
		status: answer.status,
		reason: answer.statusText,
		location: answer.headers.get('location') ?? undefined,
		body: await answer.text(),
	}
}

function refused(app: App, form: BodyForm, outcome: Outcome): void {
	if (outcome.status === 412) {
		const load = button('Load the current record', { 'data-key': 'load current' }, async () => {
			const whisper = 'This is the current record. What you typed is still in the form.'
			const isThere = await app.go(app.url, { push: false, whisper })
			if (isThere && app.data.answer?.status !== 200) app.say('This is what is there now.')
		})
		form.complain(
			'Somebody has changed this record since you read it. Nothing was saved; what you typed is kept.',
			[],
			load,
		)
		load.focus()
		return
	}
	const problems = problemsIn(contentOf(outcome).data)
	const isInvalid = problems.length > 0 && outcome.status === 422
	form.complain(isInvalid ? 'Nothing was saved: something isn’t right yet.' : refusalIn(outcome), problems)
}

function refusalIn({ status, reason, body }: Outcome): string {
	const message = messageIn(contentOf({ status, body }).data) ?? `${status} ${reason}`
	return `${message} (${status})`
}

function messageIn(data: JsonValue | undefined): string | undefined {
	const error = isRecord(data) ? data.get('error') : undefined
	return typeof error === 'string' ? error : undefined
}

/** What was done is said, and the page shows what is there now: of something deleted, what was around it. */
async function done(app: App, { method }: OperationData, turn: number, outcome: Outcome): Promise<void> {
	const { status, location: made } = outcome
	const words: Readonly<Record<string, string>> = { DELETE: 'Deleted.', PATCH: 'Saved.', PUT: 'Replaced.' }
	const text = status === 201 ? 'Created.' : (words[method] ?? 'Done.')
	const see = made !== undefined && isPath(made) ? link(made, made, { 'data-key': 'made' }) : ''
	const answer = outcome.body === '' ? '' : answerOf(app, outcome, method)
	app.say(text, see, statusChip(outcome), answer)
	// Who has set out for another page meanwhile isn't called back.
	if (turn !== app.turn) return
	app.drafts.delete(method)
	app.unfolded.delete(method)
	if (see instanceof HTMLAnchorElement) see.focus()
	const around = app.data.crumbs.slice(0, -1).findLast(({ url }) => url !== undefined)?.url
	const isGone = method === 'DELETE'
	if (isGone && around !== undefined) await app.go(around, { keepsNotice: true })
	else await app.go(app.url, { push: false, keepsNotice: true })
	if (!(see instanceof HTMLAnchorElement) && !isGone) app.focusHeading()
}

function answerOf(app: App, { body, location: made }: Outcome, method: string): HTMLElement {
	// With a Location, a link to it is enough; otherwise the answer is what the method was called for.
	const isOpen = made === undefined && (method === 'POST' || method === 'QUERY')
	return el('details', { open: isOpen }, el('summary', {}, 'Answer'), jsonView(body, app.data.roots))
}
