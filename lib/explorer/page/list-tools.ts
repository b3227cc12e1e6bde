/** The tools of a list: search and conditions above it, the number of records and the pager below. */
import { type App, headerIn } from './app.ts'
import { button, el, labelled, link, onSubmit, option } from './dom.ts'
import { exportButtons } from './export-list.ts'
import { plainText } from './fields.ts'
import { isRecord, type JsonValue } from './json-value.ts'
import {
	type Condition,
	conditionsOf,
	isOfDeleted,
	type ListFeatures,
	nextIn,
	operatorWord,
	parameterOf,
	totalsOf,
	withCondition,
	withoutPair,
	withParameter,
} from './list-query.ts'

const LIMITS = ['10', '25', '50', '100']

export function listTools(app: App, features: ListFeatures): HTMLElement | undefined {
	const { hasSearch, hasInclude, hasDeleted, filters } = features
	const hasRelations = hasInclude && app.data.relations.length > 0
	const { totalsPath } = app.data
	const hasTotals = totalsPath !== undefined && !isOfDeleted(app.url)
	const exports = exportButtons(app)
	const hasOthers = hasRelations || hasDeleted || hasTotals || exports.length > 0
	if (!hasSearch && filters.size === 0 && !hasOthers) return undefined
	const conditions = conditionsOf(app.url, features)
	return el(
		'div',
		{ class: 'tools' },
		hasSearch && searchForm(app),
		filters.size > 0 && filterForm(app, filters),
		hasRelations && includeChoice(app),
		(hasDeleted || hasTotals || exports.length > 0) &&
			el(
				'div',
				{ class: 'include' },
				hasDeleted && deletedLink(app),
				hasTotals && link(totalsOf(totalsPath, app.url), 'Totals', { class: 'button small' }),
				...exports,
			),
		conditions.length > 0 &&
			el('ul', { class: 'chips', 'aria-label': 'Conditions' }, ...conditions.map((one) => chip(app, one))),
	)
}

function searchForm(app: App): HTMLElement {
	const input = el('input', {
		type: 'search',
		'data-key': 'search',
		placeholder: 'Search…',
		'aria-label': 'Search',
	})
	input.value = parameterOf(app.url, 'search')
	const form = el('form', { role: 'search', class: 'row' }, input, el('button', { type: 'submit' }, 'Search'))
	return onSubmit(form, () => {
		const text = input.value.trim()
		const announcement = text === '' ? 'Search ended' : `Searched for ${text}`
		void app.go(withParameter(app.url, 'search', text), { announcement })
	})
}

function filterForm(app: App, filters: ListFeatures['filters']): HTMLElement {
	const field = el('select', { 'data-key': 'filter field', 'aria-label': 'Field' })
	const operator = el('select', { 'aria-label': 'Comparison' })
	const value = el('input', {
		type: 'text',
		'data-key': 'filter value',
		placeholder: 'Value',
		'aria-label': 'Value',
	})
	field.append(...[...filters.keys()].map((name) => option(name, name, false)))
	const showOperators = () => {
		const operators = filters.get(field.value) ?? []
		// `eq` is the same as no operator.
		const shown = operators.filter((one) => one !== 'eq' || !operators.includes(''))
		operator.replaceChildren(...shown.map((one) => option(one, operatorWord(one), false)))
	}
	field.addEventListener('change', showOperators)
	showOperators()
	const add = el('button', { type: 'submit' }, 'Filter')
	return onSubmit(el('form', { class: 'row', 'aria-label': 'Filter' }, field, operator, value, add), () => {
		const text = operator.value === 'null' && value.value === '' ? 'true' : value.value
		const announcement = `Filtered by ${field.value}`
		void app.go(withCondition(app.url, field.value, operator.value, text), { announcement })
	})
}

/** Buttons for the relations to include; none if `include` is JSON, because the buttons would lose its settings. */
function includeChoice(app: App): HTMLElement | undefined {
	const current = parameterOf(app.url, 'include')
	if (current.startsWith('{')) return undefined
	const included = current === '' ? [] : current.split(',')
	const buttons = app.data.relations.map(({ name }) => {
		const isOn = included.includes(name)
		return button(
			name,
			{ class: 'small', 'aria-pressed': String(isOn), 'data-key': `include ${name}` },
			() => {
				const names = isOn ? included.filter((one) => one !== name) : [...included, name]
				const announcement = isOn ? `${name} not included` : `${name} included`
				void app.go(withParameter(app.url, 'include', names.join()), { announcement })
			},
		)
	})
	return el(
		'div',
		{ class: 'include', role: 'group', 'aria-label': 'Include' },
		el('span', {}, 'Include'),
		...buttons,
	)
}

function deletedLink({ url }: App): HTMLElement {
	const isDeleted = isOfDeleted(url)
	const text = isDeleted ? 'Leave the deleted' : 'Show deleted'
	return link(withParameter(url, 'deleted', isDeleted ? '' : 'only'), text, {
		...{ class: 'button small', 'data-key': 'deleted' },
		'data-announcement': isDeleted ? 'Records that aren’t deleted' : 'Deleted records',
	})
}

function chip(app: App, { at, field, operator, value }: Condition): HTMLElement {
	const text = `${field} ${operatorWord(operator)} ${value}`
	const remove = button('×', { 'aria-label': `Remove ${text}` }, () => {
		void app.go(withoutPair(app.url, at), { announcement: `Removed ${text}` })
	})
	return el('li', {}, el('span', {}, field), ` ${operatorWord(operator)} `, el('b', {}, value), remove)
}

export function pager(
	app: App,
	count: number,
	meta: JsonValue | undefined,
	features: ListFeatures,
): HTMLElement {
	const { url, data } = app
	const headers = data.answer?.headers
	const next = nextIn(headerIn(headers, 'link'))
	const metaTotal = isRecord(meta) ? meta.get('total') : undefined
	// Without an envelope there is no `meta`.
	const total = metaTotal === undefined ? headerIn(headers, 'x-total-count') : plainText(metaTotal)
	const isLater = parameterOf(url, 'cursor') !== '' || parameterOf(url, 'offset') !== ''
	const counted = total === undefined ? '' : ` of ${total}`
	return el(
		'div',
		{ class: 'pager' },
		el('p', {}, el('b', {}, String(count)), `${counted} ${count === 1 ? 'record' : 'records'}`),
		features.hasCount &&
			total === undefined &&
			link(withParameter(url, 'count', 'exact'), 'Count all', {
				'data-key': 'count',
				'data-announcement': 'All records counted',
			}),
		features.hasLimit && limitChoice(app, count),
		el(
			'nav',
			{ 'aria-label': 'Pages' },
			isLater && pageLink(withParameter(url, 'cursor', ''), 'First page', { 'data-key': 'first' }),
			isLater && app.steps > 0 && button('← Previous', { 'data-key': 'previous' }, () => history.back()),
			next !== undefined && pageLink(next, 'Next page', { 'data-key': 'next', rel: 'next' }, 'Next →'),
		),
	)
}

function pageLink(url: string, name: string, attributes: Record<string, string>, text = name): HTMLElement {
	return link(url, text, { ...attributes, class: 'button', 'data-announcement': name })
}

function limitChoice(app: App, count: number): HTMLElement {
	const current = parameterOf(app.url, 'limit')
	const select = el('select', { 'data-key': 'limit' }, option('', 'Default', current === ''))
	const limits = LIMITS.includes(current) || current === '' ? LIMITS : [...LIMITS, current]
	select.append(...limits.map((one) => option(one, one, one === current)))
	select.addEventListener('change', () => {
		const announcement = `Page of ${select.value || count}`
		void app.go(withParameter(app.url, 'limit', select.value), { announcement })
	})
	return labelled('Per page', select, { class: 'limit' })
}
