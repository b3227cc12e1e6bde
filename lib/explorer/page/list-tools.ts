/** Above a list: search and conditions. Below it: how many, and the way to the next page. */
import type { AnswerData } from '../page-data.ts'
import type { App } from './app.ts'
import { button, el, labelled, link, option } from './dom.ts'
import { plainText } from './fields.ts'
import { isRecord, type JsonValue } from './json-value.ts'
import {
	type Condition,
	conditionsOf,
	type ListOffers,
	nextOf,
	operatorWord,
	parameterOf,
	withCondition,
	withoutPair,
	withParameter,
} from './list-query.ts'

const LIMITS = ['10', '25', '50', '100']

export function listTools(app: App, offers: ListOffers): HTMLElement | undefined {
	const { hasSearch, filters } = offers
	if (!hasSearch && filters.size === 0) return undefined
	const conditions = conditionsOf(app.url, offers)
	return el(
		'div',
		{ class: 'tools' },
		hasSearch && searchForm(app),
		filters.size > 0 && filterForm(app, filters),
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
		const whisper = text === '' ? 'Search ended' : `Searched for ${text}`
		void app.go(withParameter(app.url, 'search', text), { whisper })
	})
}

function filterForm(app: App, filters: ListOffers['filters']): HTMLElement {
	const field = el('select', { 'data-key': 'filter field', 'aria-label': 'Field' })
	const operator = el('select', { 'aria-label': 'Comparison' })
	const value = el('input', {
		type: 'text',
		'data-key': 'filter value',
		placeholder: 'Value',
		'aria-label': 'Value',
	})
	field.append(...[...filters.keys()].map((name) => option(name, name, false)))
	const offer = () => {
		const operators = filters.get(field.value) ?? []
		// Equality without its name says the same.
		const shown = operators.filter((one) => one !== 'eq' || !operators.includes(''))
		operator.replaceChildren(...shown.map((one) => option(one, operatorWord(one), false)))
	}
	field.addEventListener('change', offer)
	offer()
	const add = el('button', { type: 'submit' }, 'Filter')
	return onSubmit(el('form', { class: 'row', 'aria-label': 'Filter' }, field, operator, value, add), () => {
		const text = operator.value === 'null' && value.value === '' ? 'true' : value.value
		const whisper = `Filtered by ${field.value}`
		void app.go(withCondition(app.url, field.value, operator.value, text), { whisper })
	})
}

function chip(app: App, { at, field, operator, value }: Condition): HTMLElement {
	const text = `${field} ${operatorWord(operator)} ${value}`
	const remove = button('×', { 'aria-label': `Remove ${text}` }, () => {
		void app.go(withoutPair(app.url, at), { whisper: `Removed ${text}` })
	})
	return el('li', {}, el('span', {}, field), ` ${operatorWord(operator)} `, el('b', {}, value), remove)
}

function onSubmit(form: HTMLFormElement, act: () => void): HTMLFormElement {
	form.addEventListener('submit', (event) => {
		event.preventDefault()
		act()
	})
	return form
}

export function pager(app: App, count: number, meta: JsonValue | undefined, offers: ListOffers): HTMLElement {
	const { url, data } = app
	const next = nextOf(data.answer?.headers ?? [])
	const total = totalOf(data.answer?.headers ?? [], meta)
	const isLater = parameterOf(url, 'cursor') !== '' || parameterOf(url, 'offset') !== ''
	const counted = total === undefined ? '' : ` of ${total}`
	return el(
		'div',
		{ class: 'pager' },
		el('p', {}, el('b', {}, String(count)), `${counted} ${count === 1 ? 'record' : 'records'}`),
		offers.hasCount &&
			total === undefined &&
			link(withParameter(url, 'count', 'exact'), 'Count all', {
				'data-key': 'count',
				'data-says': 'All are counted',
			}),
		offers.hasLimit && limitChoice(app, count),
		el(
			'nav',
			{ 'aria-label': 'Pages' },
			isLater &&
				link(withParameter(url, 'cursor', ''), 'First page', {
					class: 'button',
					'data-key': 'first',
					'data-says': 'First page',
				}),
			isLater && app.steps > 0 && button('← Previous', { 'data-key': 'previous' }, () => history.back()),
			next !== undefined &&
				link(next, 'Next →', {
					class: 'button',
					rel: 'next',
					'data-key': 'next',
					'data-says': 'Next page',
				}),
		),
	)
}

/** Without an envelope there is no `meta`: a header says it then. */
function totalOf(headers: AnswerData['headers'], meta: JsonValue | undefined): string | undefined {
	const told = isRecord(meta) ? meta.get('total') : undefined
	if (told !== undefined) return plainText(told)
	return headers.find(([name]) => name.toLowerCase() === 'x-total-count')?.[1]
}

function limitChoice(app: App, count: number): HTMLElement {
	const now = parameterOf(app.url, 'limit')
	const select = el('select', { 'data-key': 'limit' }, option('', 'Default', now === ''))
	const limits = LIMITS.includes(now) || now === '' ? LIMITS : [...LIMITS, now]
	select.append(...limits.map((one) => option(one, one, one === now)))
	select.addEventListener('change', () => {
		void app.go(withParameter(app.url, 'limit', select.value), {
			whisper: `Page of ${select.value || count}`,
		})
	})
	return labelled('Per page', select, { class: 'limit' })
}
