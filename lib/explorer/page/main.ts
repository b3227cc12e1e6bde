/** Entry point of the page's script: renders the embedded data, then handles links and the history. */
import type { OperationData } from '../page-data.ts'
import { actionsView, methodBadge } from './actions.ts'
import { answerView } from './answer-view.ts'
import { App, address, ownData } from './app.ts'
import { shownContent } from './content.ts'
import { el, link } from './dom.ts'
import { isRecord } from './json-value.ts'
import { mapView } from './map-view.ts'
import { pathOf } from './path.ts'
import { relatedViews } from './related-lists.ts'
import { selectionOf } from './selection.ts'
import { signInPart } from './sign-in.ts'

export function start(): void {
	const app = new App(ownData(), render)
	render(app)
	addEventListener('popstate', () => {
		// A change of the hash alone fires this event, too.
		if (app.url !== address()) void app.go(address(), { push: false })
	})
	document.addEventListener('click', (event) => {
		const link = clickedLink(event)
		if (link === undefined) return
		event.preventDefault()
		void app.go(link.pathname + link.search, { announcement: link.dataset.announcement ?? '' })
	})
}

/** The link that was clicked, if it is to this origin and opens in this window. */
function clickedLink(event: MouseEvent): HTMLAnchorElement | undefined {
	const { target, button, altKey, ctrlKey, metaKey, shiftKey, defaultPrevented } = event
	if (defaultPrevented || button !== 0 || altKey || ctrlKey || metaKey || shiftKey) return undefined
	const link = target instanceof Element ? target.closest('a') : null
	if (link === null || link.origin !== location.origin || link.getAttribute('href')?.startsWith('#'))
		return undefined
	return link
}

function render(app: App): void {
	const { answer, map, url } = app.data
	const path = pathOf(url)
	document.title = `${path} · API explorer`
	document.getElementById('top')?.replaceChildren(...topView(app))
	const actions = actionsView(app)
	const parts = [
		headView(app, path),
		answer !== undefined && withLists(answerView(app, answer, selectionOf(app)), relatedViews(app)),
		actions,
		...mapPart(app, path),
	]
	const main = document.getElementById('main')
	// A record with forms has two columns.
	const isRecordPage =
		answer !== undefined &&
		answer.status < 400 &&
		isRecord(shownContent(app).data) &&
		map === undefined &&
		actions !== undefined &&
		actions.querySelector('details') !== null
	main?.setAttribute('class', isRecordPage ? 'record' : '')
	main?.replaceChildren(...parts.filter((one) => one instanceof Node))
}

/** An answer with the related lists below it. */
function withLists(answer: HTMLElement, lists: readonly HTMLElement[]): HTMLElement {
	return lists.length === 0 ? answer : el('div', { class: 'column' }, answer, ...lists)
}

/** The map; below an answer it has a heading and leaves out the page's own route. */
function mapPart(app: App, path: string): HTMLElement[] {
	const { answer, map } = app.data
	if (map === undefined) return []
	if (answer === undefined) return [mapView(app, map)]
	const handlers = map.handlers
		.map((one) => ({ ...one, routes: one.routes.filter((route) => route.path !== path) }))
		.filter(({ routes }) => routes.length > 0)
	if (handlers.length === 0) return []
	return [el('h2', { class: 'below' }, placeName(path)), mapView(app, { ...map, handlers })]
}

function placeName(path: string): string {
	return path === '/' ? 'All routes' : `Below ${path}`
}

function topView(app: App): HTMLElement[] {
	const { crumbs } = app.data
	const items = crumbs.map(({ text, url }, at) => {
		const isLast = at === crumbs.length - 1
		const name = at === 0 ? 'API' : text
		const current = isLast ? 'page' : undefined
		const isLink = url !== undefined && !isLast
		return el('li', {}, isLink ? link(url, name) : el('span', { 'aria-current': current }, name))
	})
	return [
		el('span', { class: 'mark', 'aria-hidden': 'true' }),
		el('nav', { 'aria-label': 'Path' }, el('ol', {}, ...items)),
		signInPart(app),
	]
}

function headView(app: App, path: string): HTMLElement {
	const { answer, url, operations, user } = app.data
	const isMap = answer === undefined
	const title = isMap ? placeName(path) : path
	const what = isMap ? 'Everything that you may use' : summaryOf(operations)
	return el(
		'div',
		{ class: 'head' },
		el(
			'h1',
			{ tabindex: '-1', class: isMap ? '' : 'path' },
			!isMap && methodBadge('GET'),
			el('span', {}, title),
		),
		el(
			'p',
			{ class: 'quiet' },
			what,
			user !== undefined && el('span', {}, what === '' ? 'as ' : ' · as ', el('b', {}, user)),
		),
		url.includes('?') && el('p', { class: 'query path' }, url.slice(url.indexOf('?'))),
	)
}

function summaryOf(operations: readonly OperationData[]): string {
	const operation = operations.find(({ method }) => method === 'GET')
	if (operation === undefined) return operations.length === 0 ? 'No such route' : 'Nothing to read here'
	return operation.isAllowed ? operation.summary : 'Needs credentials'
}

start()
