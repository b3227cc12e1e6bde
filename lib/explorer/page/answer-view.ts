/** Shows the answer to a request: its status, and its body as a table, as fields or as JSON, or its headers. */
import type { AnswerData } from '../page-data.ts'
import type { App, View } from './app.ts'
import { problemsIn, shownContent } from './content.ts'
import { curlBox } from './curl-box.ts'
import { button, type Child, el, link } from './dom.ts'
import { isList, isRecord, type JsonValue } from './json-value.ts'
import { featuresOf, isOfDeleted, type ListFeatures, withParameter } from './list-query.ts'
import { listTools, pager } from './list-tools.ts'
import { isPath } from './path.ts'
import { pageNames } from './related-names.ts'
import { type RowSelection, tableView, truncationNote } from './table.ts'
import { totalsView } from './totals.ts'
import { jsonView, wholeValue } from './value-view.ts'

const MAX_FIELDS = 1_000

/** @param selection of the rows of a list */
export function answerView(app: App, answer: AnswerData, selection?: RowSelection): HTMLElement {
	const { data, meta } = shownContent(app)
	const operation = app.data.operations.find(({ method }) => method === 'GET')
	const features = featuresOf(operation?.query ?? [])
	const isTotals = operation?.isTotals === true
	const plain =
		answer.status < 400
			? plainView(app, data, features, isTotals, selection)
			: errorView(app, answer, data, features)
	const views: (readonly [View, string])[] = [
		['json', 'JSON'],
		['headers', 'Headers'],
	]
	if (plain !== undefined)
		views.unshift(['plain', isList(data) ? 'Table' : answer.status < 400 ? 'Fields' : 'Error'])
	const view = views.some(([name]) => name === app.view) ? app.view : (views[0]?.[0] ?? 'json')
	const isPages = isList(data) && operation?.isPage === true
	return el(
		'section',
		{ class: 'card answer', 'aria-label': 'Answer' },
		el('div', { class: 'card-head' }, statusChip(answer), tabs(app, views, view)),
		(isPages || isTotals) && listTools(app, features),
		features.hasDeleted &&
			isOfDeleted(app.url) &&
			answer.status < 400 &&
			el('p', { class: 'note' }, isList(data) ? 'These records are deleted.' : 'This record is deleted.'),
		...viewParts(app, answer, view, plain),
		isList(data) && isPages && pager(app, data.length, meta, features),
		curlBox(app, { target: { method: 'GET' }, body: undefined, headers: [] }),
	)
}

export function statusChip({ status, reason }: Pick<AnswerData, 'status' | 'reason'>): HTMLElement {
	const kind = status < 300 ? 'good' : status < 400 ? 'other' : 'bad'
	return el('p', { class: `status ${kind}` }, el('b', {}, String(status)), ` ${reason}`)
}

function tabs(app: App, views: readonly (readonly [View, string])[], current: View): HTMLElement {
	const buttons = views.map(([view, text]) =>
		button(text, { 'aria-pressed': String(view === current), 'data-key': `view ${view}` }, () => {
			app.view = view
			app.render()
		}),
	)
	return el('div', { class: 'tabs', role: 'group', 'aria-label': 'View' }, ...buttons)
}

function viewParts(app: App, answer: AnswerData, view: View, plain: HTMLElement | undefined): Child[] {
	const { roots } = app.data
	const note = answer.note !== undefined && el('p', { class: 'note' }, answer.note)
	if (view === 'headers') return [headersView(answer)]
	return view === 'plain' && plain !== undefined ? [plain, note] : [jsonView(answer.body, roots), note]
}

/** A list as a table, a record as its fields; `undefined` for other values, which are shown as JSON only. */
function plainView(
	app: App,
	data: JsonValue | undefined,
	features: ListFeatures,
	isTotals: boolean,
	selection: RowSelection | undefined,
): HTMLElement | undefined {
	if (isList(data)) {
		if (data.length === 0) return el('p', { class: 'empty' }, 'Nothing here.')
		return isTotals ? totalsView(app, data) : tableView(app, data, features, selection)
	}
	return isRecord(data) && data.size > 0 ? fieldsView(app, data) : undefined
}

function fieldsView(app: App, record: ReadonlyMap<string, JsonValue>): HTMLElement {
	const names = pageNames(app)
	const shown = (name: string, value: JsonValue) =>
		(names.relationBy(name) && names.cell(name, record)) ?? wholeValue(value, app.data.roots)
	const items = [...record]
		.slice(0, MAX_FIELDS)
		.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, shown(name, value))))
	const others = names
		.others(app.url)
		.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value)))
	const list = el('dl', { class: 'fields' }, ...items, ...others)
	return record.size <= MAX_FIELDS ? list : el('div', {}, list, truncationNote(MAX_FIELDS, record.size))
}

function errorView(
	app: App,
	{ status }: AnswerData,
	data: JsonValue | undefined,
	{ hasDeleted }: ListFeatures,
): HTMLElement | undefined {
	const error = isRecord(data) ? (data.get('error') ?? data.get('detail')) : undefined
	if (typeof error !== 'string') return undefined
	const home = app.data.crumbs[0]?.url
	const isNotFound = status === 404 && app.data.map === undefined && home !== undefined
	const needsCredentials = status === 401 || status === 403
	const problems = problemsIn(data)
		// The error's own text usually repeats a single problem.
		.filter(({ field, message }) => error !== `${field} ${message}`)
		.map(({ field, message }) => el('li', {}, el('b', {}, field), ` ${message}`))
	return el(
		'div',
		{ class: 'error' },
		el('p', {}, error),
		problems.length > 0 && el('ul', {}, ...problems),
		needsCredentials && el('p', { class: 'quiet' }, credentialsHint(app)),
		status === 404 &&
			hasDeleted &&
			!isOfDeleted(app.url) &&
			el('p', {}, link(withParameter(app.url, 'deleted', 'only'), 'Look among the deleted records')),
		isNotFound && el('p', {}, link(home, 'All routes')),
	)
}

function credentialsHint({ session, data }: App): string {
	const hasSome = session.kind !== 'none' || data.user !== undefined
	return hasSome
		? 'The credentials that were sent aren’t enough: use others.'
		: 'Use “Credentials” above to send some.'
}

function headersView(answer: AnswerData): HTMLElement {
	const items = answer.headers.map(([name, value]) =>
		el('div', {}, el('dt', {}, name), el('dd', {}, ...headerValue(name, value))),
	)
	return el('dl', { class: 'fields headers' }, ...items)
}

function headerValue(name: string, value: string): Child[] {
	const lower = name.toLowerCase()
	if ((lower === 'location' || lower === 'content-location') && isPath(value)) return [link(value, value)]
	if (lower !== 'link') return [value]
	return value
		.split(/(<[^<>]*>)/)
		.flatMap((part): Child[] =>
			/^<\/[^>]*>$/.test(part) ? ['<', link(part.slice(1, -1), part.slice(1, -1)), '>'] : [part],
		)
}
