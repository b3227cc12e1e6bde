/** The lists of related records below a record, each with its own pages and with forms to create and tie records. */
import type { RelatedListData, RelationData } from '../page-data.ts'
import { operationCard } from './actions.ts'
import { type App, reasonOf } from './app.ts'
import { choiceOf } from './choice.ts'
import { type Asked, ask, messageOf } from './content.ts'
import { button, el, labelled, link, onSubmit } from './dom.ts'
import { plainText } from './fields.ts'
import { isList, isRecord, type JsonValue } from './json-value.ts'
import { asking, nextIn, parameterOf, recordUrl } from './list-query.ts'
import { segmentOf } from './path.ts'
import { keyText, nameOf, RelatedNames, type Row } from './related-names.ts'
import { send } from './submit.ts'
import { tableOf } from './table.ts'

/** The number of lists that are loaded with the page; each of the others has a button that loads it. */
const MAX_LOADED = 10
/** The `count` parameter: no more records than that are counted. */
const MAX_COUNTED = '1000'

/** The elements of the lists, which are made once for the page's data. */
export function relatedViews(app: App): HTMLElement[] {
	const lists = app.once('lists', () => {
		const all = app.data.relations.flatMap((relation) =>
			relation.list === undefined ? [] : [new RelatedList(app, relation, relation.list)],
		)
		void loadInTurn(app, all)
		return all
	})
	return lists.map(({ element }) => element)
}

/** Loads lists one after another, so that a page doesn't send many requests at once. */
async function loadInTurn(app: App, lists: readonly RelatedList[]): Promise<void> {
	const { data } = app
	for (const list of lists.slice(0, MAX_LOADED)) if (app.data === data) await list.load()
	for (const list of lists.slice(MAX_LOADED)) list.offer()
}

interface Place {
	readonly cursor: string
	/** The number of records before it. */
	readonly before: number
}

class RelatedList {
	readonly element: HTMLElement
	readonly #app: App
	readonly #relation: RelationData
	readonly #list: RelatedListData
	readonly #body = el('div', { class: 'body' }, el('p', { class: 'empty' }, 'Loading…'))
	readonly #alert = el('div', { class: 'alert', role: 'alert' })
	readonly #below = el('div', { class: 'tools' })
	/** The places of the pages up to the current one. */
	#pages: Place[] = [{ cursor: '', before: 0 }]
	#turn = 0

	constructor(app: App, relation: RelationData, list: RelatedListData) {
		this.#app = app
		this.#relation = relation
		this.#list = list
		const { name } = relation
		const id = `related-${name}`
		const heading = el('h2', { id, tabindex: '-1', 'data-key': id }, name)
		const all = link(list.url, `All ${name}`, { class: 'button small', 'data-key': `all ${name}` })
		this.element = el('section', { class: 'card related-list', 'aria-labelledby': id })
		this.element.append(el('div', { class: 'card-head' }, heading, all), this.#alert, this.#body, this.#below)
		this.#renderBelow()
	}

	/** A button that loads the list. */
	offer(): void {
		const show = button('Show', { 'data-key': `show ${this.#relation.name}` }, () => void this.load())
		this.#body.replaceChildren(el('p', { class: 'empty' }, show))
	}

	async load(): Promise<void> {
		const turn = ++this.#turn
		const { url, limit, relations } = this.#list
		const place = this.#pages.at(-1)
		const full = asking(url, { limit: String(limit), count: MAX_COUNTED, cursor: place?.cursor ?? '' })
		this.#body.setAttribute('aria-busy', 'true')
		const content = await ask(this.#app, full)
		if (turn !== this.#turn) return
		this.#body.removeAttribute('aria-busy')
		const key = document.activeElement?.getAttribute('data-key')
		const hadFocus = this.#body.contains(document.activeElement)
		if (content.error !== undefined || !isList(content.data)) this.#renderError(content.error)
		else {
			const names = new RelatedNames(this.#app, full, content.data, relations)
			this.#renderRows(content.data, names, content)
		}
		if (hadFocus) this.#focus(key ?? `related-${this.#relation.name}`)
	}

	/** Focuses the element with this key, or else the one nearest to it. */
	#focus(key: string): void {
		const { name } = this.#relation
		for (const one of [key, `next ${name}`, `previous ${name}`, `related-${name}`]) {
			const found = this.element.querySelector(`[data-key=${CSS.escape(one)}]`)
			if (!(found instanceof HTMLElement)) continue
			found.focus()
			return
		}
	}

	#renderError(error = 'The answer isn’t a list.'): void {
		const again = button('Try again', { class: 'small', 'data-key': `again ${this.#relation.name}` }, () => {
			void this.load()
		})
		this.#body.replaceChildren(
			el(
				'div',
				{ class: 'error' },
				el('p', {}, `${this.#relation.name} can’t be shown.`),
				el('p', {}, error),
				again,
			),
		)
	}

	#renderRows(rows: readonly JsonValue[], names: RelatedNames, content: Asked): void {
		const { name, path } = this.#relation
		const { back, tie } = this.#list
		const table = tableOf(this.#app, {
			...{ name, rows, names, recordPath: path, hidden: back },
			heading: (column) => el('th', { scope: 'col' }, column),
			action: tie && ((row) => this.#untieButton(row)),
		})
		const isFirst = this.#pages.length === 1
		this.#body.replaceChildren(
			rows.length > 0 ? table : el('p', { class: 'empty' }, isFirst ? `No ${name}.` : 'No more.'),
			this.#pager(rows.length, content),
		)
	}

	#pager(count: number, content: Asked): HTMLElement | '' {
		const { name } = this.#relation
		const before = this.#pages.at(-1)?.before ?? 0
		const next = nextOf(content)
		if (count === 0 && before === 0) return ''
		const turn = (pages: Place[]) => {
			this.#pages = pages
			void this.load().then(() =>
				this.#app.notify(`${name}: ${this.#body.querySelector('.range')?.textContent}`),
			)
		}
		return el(
			'div',
			{ class: 'pager' },
			el('p', { class: 'range' }, rangeText(before, count, next !== undefined, totalOf(content))),
			el(
				'nav',
				{ 'aria-label': `Pages of ${name}` },
				before > 0 &&
					button('← Previous', { 'data-key': `previous ${name}` }, () => turn(this.#pages.slice(0, -1))),
				next !== undefined &&
					button('Next →', { 'data-key': `next ${name}` }, () =>
						turn([...this.#pages, { cursor: next, before: before + count }]),
					),
			),
		)
	}

	/** Renders the forms that tie a record and create one. */
	#renderBelow(): void {
		const { create, relations, tie } = this.#list
		const onDone = () => {
			// Rendering replaces the form that was sent by an empty one, and the focus is lost if it was in there.
			const isLost = this.#below.contains(document.activeElement)
			this.#renderBelow()
			if (isLost) this.#focus(`related-${this.#relation.name}`)
			void this.load()
		}
		const parts = [
			tie && this.#tieForm(),
			create && operationCard(this.#app, create, false, { relations, names: undefined, onDone }),
		]
		this.#below.replaceChildren(...parts.filter((one) => one !== undefined))
		this.#below.hidden = this.#below.childElementCount === 0
	}

	#tieForm(): HTMLElement {
		const { name } = this.#relation
		const { tie, key } = this.#list
		const input = el('input', {
			type: 'text',
			id: `tie-${name}`,
			'data-key': `tie ${name}`,
			'aria-required': 'true',
		})
		let chosen: { readonly text: string; readonly record: Row } | undefined
		const { choice } = tie ?? {}
		const control =
			choice === undefined
				? input
				: choiceOf({
						...{ app: this.#app, input, choice },
						relation: { ...this.#relation, path: this.#template() },
						pick: (record, text) => {
							chosen = { text, record }
							input.value = text
						},
					})
		if (choice === undefined) input.placeholder = key.join()
		const add = el('button', { type: 'submit' }, 'Tie')
		const form = el('form', { class: 'row' }, labelled(`Tie one of the ${name}`, control), add)
		return onSubmit(form, () => {
			const typed = input.value.trim()
			if (typed === '') return input.focus()
			const isChosen = chosen !== undefined && chosen.text === input.value
			const url = isChosen
				? recordUrl(this.#template(), chosen?.record ?? null)
				: `${this.#list.url}/${segmentOf(typed, key.length > 1)}`
			void this.#change('PUT', url, `Tied: ${typed}`).then((isDone) => {
				if (isDone) input.value = ''
				input.focus()
			})
		})
	}

	/** The URL template of a tie. */
	#template(): string {
		const { url, key } = this.#list
		return `${url}/${key.map((field) => `{${field}}`).join()}`
	}

	#untieButton(row: JsonValue): HTMLElement {
		const url = recordUrl(this.#template(), row)
		const name = isRecord(row) ? (nameOf(this.#relation, row) ?? keyText(row, this.#list.key)) : ''
		const attributes = {
			class: 'small',
			'aria-label': `Untie ${name}`,
			'data-key': `untie ${url}`,
			disabled: url === undefined,
		}
		return button('Untie', attributes, () => void this.#change('DELETE', url, `Untied: ${name}`))
	}

	/** Ties or unties a record. Returns whether that succeeded. */
	async #change(method: string, url: string | undefined, done: string): Promise<boolean> {
		if (url === undefined || this.element.getAttribute('aria-busy') === 'true') return false
		this.element.setAttribute('aria-busy', 'true')
		let problem: string | undefined
		try {
			const outcome = await send(this.#app, { method, url }, undefined)
			if (outcome.status >= 400) problem = messageOf(outcome)
		} catch (error) {
			problem = reasonOf(error)
		}
		this.element.removeAttribute('aria-busy')
		this.#alert.replaceChildren(...(problem === undefined ? [] : [el('p', {}, problem)]))
		if (problem !== undefined) return false
		this.#app.notify(done)
		await this.load()
		return true
	}
}

/** `6–10 of 12`; `2 records` for all of them. */
function rangeText(before: number, count: number, hasMore: boolean, total: string): string {
	if (before === 0 && !hasMore) return `${count} ${count === 1 ? 'record' : 'records'}`
	return `${before + Math.min(1, count)}–${before + count}${total}`
}

function nextOf({ meta, headers }: Asked): string | undefined {
	const next = isRecord(meta)
		? meta.get('next')
		: parameterOf(nextIn(headers?.get('link') ?? undefined) ?? '', 'cursor')
	return typeof next === 'string' && next !== '' ? next : undefined
}

/** ` of 12`, if the records were counted. */
function totalOf({ meta, headers }: Asked): string {
	const counted = isRecord(meta) ? meta.get('total') : headers?.get('x-total-count')
	if (counted === undefined || counted === null) return ''
	const isMore = isRecord(meta) && meta.get('more') === true
	return ` of ${isMore ? 'more than ' : ''}${plainText(counted)}`
}
