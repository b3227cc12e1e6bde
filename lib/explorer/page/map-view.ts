/** The map of handlers with their versions and routes. A route with params has inputs to fill them in. */
import type { MapData, MapHandler, MapRoute } from '../page-data.ts'
import { distinctOperations, methodBadge } from './actions.ts'
import type { App } from './app.ts'
import { type Child, el, link, onSubmit } from './dom.ts'

export function mapView(app: App, { handlers, hasMore }: MapData): HTMLElement {
	const names = [...new Set(handlers.map(({ name }) => name))]
	return el(
		'section',
		{ class: 'map', 'aria-label': 'Routes' },
		...names.map((name) => handlerCard(app, name, handlers)),
		handlers.length === 0 && el('p', { class: 'card empty' }, 'You may use nothing here.'),
		hasMore && el('p', { class: 'quiet' }, 'More routes need credentials.'),
	)
}

function handlerCard(app: App, name: string, handlers: readonly MapHandler[]): HTMLElement {
	const versions = handlers.filter((one) => one.name === name)
	const parts = versions.flatMap(({ version, routes }): Child[] => [
		version !== undefined && el('h3', {}, version),
		el('ul', { class: 'routes' }, ...routes.map((route) => routeItem(app, route))),
	])
	return el('article', { class: 'card' }, el('h2', {}, name === '' ? '/' : name), ...parts)
}

function routeItem(app: App, { path, operations }: MapRoute): HTMLElement {
	const badges = distinctOperations(operations).map(({ method }) => methodBadge(method))
	const summary = operations[0]?.summary ?? ''
	const where = path.includes('{') ? pathForm(app, path) : link(path, path, { class: 'path' })
	return el(
		'li',
		{},
		where,
		el('span', { class: 'badges' }, ...badges),
		el('span', { class: / /.test(summary) ? 'quiet' : 'quiet path' }, summary),
	)
}

/** A route with an input for each param. */
function pathForm(app: App, path: string): HTMLElement {
	const inputs: HTMLInputElement[] = []
	const parts = path.split(/(\{[^}]*\})/).map((part) => {
		const [, name] = /^\{(.*)\}$/.exec(part) ?? []
		if (name === undefined) return part
		const input = el('input', {
			type: 'text',
			placeholder: name,
			'aria-label': `${name} of ${path}`,
			size: String(Math.max(4, name.length)),
		})
		inputs.push(input)
		return input
	})
	const form = el(
		'form',
		{ class: 'path' },
		...parts,
		el('button', { type: 'submit', class: 'small', 'aria-label': `Open ${path}` }, 'Open'),
	)
	return onSubmit(form, () => {
		const empty = inputs.find(({ value }) => value === '')
		if (empty !== undefined) return empty.focus()
		const filled = parts.map((part) => (typeof part === 'string' ? part : encodeURIComponent(part.value)))
		void app.go(filled.join(''))
	})
}
