/** The map of handlers with their versions and routes. A route with params has inputs to fill them in. */
import type { MapData, MapHandler, MapRoute } from '../page-data.ts'
import { distinctOperations, methodBadge } from './actions.ts'
import type { App } from './app.ts'
import { type Child, el, link, onSubmit } from './dom.ts'
import { segmentOf } from './path.ts'

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

function routeItem(app: App, route: MapRoute): HTMLElement {
	const { path, operations } = route
	const badges = distinctOperations(operations).map(({ method }) => methodBadge(method))
	const summary = operations[0]?.summary ?? ''
	const where = path.includes('{') ? pathForm(app, route) : link(path, path, { class: 'path' })
	return el(
		'li',
		{},
		where,
		el('span', { class: 'badges' }, ...badges),
		el('span', { class: / /.test(summary) ? 'quiet' : 'quiet path' }, summary),
	)
}

const MAX_SIZE = 20

/** A route with an input for each param; for one that is a list, the values are typed with commas between. */
function pathForm(app: App, { path, lists = {} }: MapRoute): HTMLElement {
	const inputs: HTMLInputElement[] = []
	const segments: (() => string)[] = []
	const parts = path.split(/(\{[^}]*\})/).map((part) => {
		const [, name] = /^\{(.*)\}$/.exec(part) ?? []
		if (name === undefined) {
			segments.push(() => part)
			return part
		}
		const values = Object.hasOwn(lists, name) ? lists[name] : undefined
		const placeholder = values?.replaceAll(', ', ',') ?? name
		const input = el('input', {
			type: 'text',
			placeholder,
			title: values && `${values}, with commas between`,
			'aria-label': `${name} of ${path}`,
			size: String(Math.min(MAX_SIZE, Math.max(4, placeholder.length))),
		})
		inputs.push(input)
		segments.push(() => segmentOf(input.value, values !== undefined))
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
		void app.go(segments.map((segment) => segment()).join(''))
	})
}
