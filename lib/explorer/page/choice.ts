/** Chooses a record by typing: an input with suggestions from another handler's list, as a combobox (WAI-ARIA). */
import type { ChoiceData, RelationData } from '../page-data.ts'
import type { App } from './app.ts'
import { ask } from './content.ts'
import { el } from './dom.ts'
import { isList, isRecord } from './json-value.ts'
import { asking, keyFields } from './list-query.ts'
import { keyText, nameFields, nameOf, type Row } from './related-names.ts'

/** The pause in typing before the list is requested, in milliseconds. */
const PAUSE = 200
const MAX_OPTIONS = '10'

export interface ChoiceParts {
	readonly app: App
	readonly input: HTMLInputElement
	readonly relation: Pick<RelationData, 'name' | 'path' | 'label' | 'by'>
	readonly choice: ChoiceData
	/** Called with the chosen record. */
	pick(record: Row, name: string): void
}

/** Turns an input into a combobox. Returns the element to show in its place, with the input in it. */
export function choiceOf(parts: ChoiceParts): HTMLElement {
	const { input, relation } = parts
	const id = `${input.id}-choice`
	const list = el('ul', { role: 'listbox', id, 'aria-label': relation.name, hidden: true })
	const status = el('p', { class: 'hint', role: 'status' })
	for (const [name, value] of Object.entries({
		...{ role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': id, 'aria-expanded': 'false' },
		...{ autocomplete: 'off', spellcheck: 'false', placeholder: 'Type to search…' },
	}))
		input.setAttribute(name, value)
	const popup = new Popup(parts, list, status)
	input.addEventListener('input', () => popup.searchSoon())
	input.addEventListener('keydown', (event) => popup.press(event))
	input.addEventListener('blur', () => popup.close())
	// The focus stays in the input.
	list.addEventListener('mousedown', (event) => event.preventDefault())
	list.addEventListener('click', ({ target }) => {
		if (target instanceof Element) popup.pick([...list.children].indexOf(target.closest('li') ?? list))
	})
	return el('div', { class: 'choice' }, input, list, status)
}

class Popup {
	readonly #parts: ChoiceParts
	readonly #list: HTMLElement
	readonly #status: HTMLElement
	#found: readonly Row[] = []
	#active = -1
	/** The number of the last search or close: older answers are ignored. */
	#turn = 0
	#timer: ReturnType<typeof setTimeout> | undefined

	constructor(parts: ChoiceParts, list: HTMLElement, status: HTMLElement) {
		this.#parts = parts
		this.#list = list
		this.#status = status
	}

	searchSoon(): void {
		clearTimeout(this.#timer)
		this.#turn++
		this.#timer = setTimeout(() => void this.#search(), PAUSE)
	}

	close(): void {
		clearTimeout(this.#timer)
		this.#turn++
		this.#status.textContent = ''
		this.#show([])
	}

	press(event: KeyboardEvent): void {
		const { key } = event
		const isOpen = this.#found.length > 0
		if (key === 'ArrowDown' || key === 'ArrowUp') {
			if (isOpen) this.#activate(this.#active + (key === 'ArrowDown' ? 1 : -1))
			else void this.#search()
		} else if (!isOpen || (key !== 'Enter' && key !== 'Escape')) return
		else if (key === 'Escape') this.close()
		else if (this.#active === -1) return
		else this.pick(this.#active)
		event.preventDefault()
	}

	pick(at: number): void {
		const record = this.#found[at]
		if (record === undefined) return
		this.close()
		this.#parts.pick(record, this.#textOf(record))
	}

	async #search(): Promise<void> {
		const { app, input, relation, choice } = this.#parts
		const turn = ++this.#turn
		const url = asking(choice.url, {
			limit: MAX_OPTIONS,
			fields: nameFields(relation).join(),
			[choice.parameter]: input.value.trim(),
		})
		const { data, error } = await ask(app, url)
		if (turn !== this.#turn || document.activeElement !== input) return
		this.#show(isList(data) && error === undefined ? data.filter((one) => isRecord(one)) : [])
		const count = this.#found.length
		this.#status.textContent =
			error ?? (count === 0 ? 'None found: what you typed is sent as it is.' : `${count} found`)
	}

	#show(found: readonly Row[]): void {
		const { input, relation } = this.#parts
		this.#found = found
		this.#list.hidden = found.length === 0
		input.setAttribute('aria-expanded', String(found.length > 0))
		this.#list.replaceChildren(
			...found.map((record, at) => {
				const name = this.#textOf(record)
				const key = keyOf(relation, record)
				return el(
					'li',
					{ role: 'option', id: `${this.#list.id}-${at}`, 'aria-selected': 'false' },
					el('span', { class: 'clip' }, name),
					key !== name && el('span', { class: 'id' }, key),
				)
			}),
		)
		this.#activate(-1)
	}

	#activate(at: number): void {
		const count = this.#found.length
		this.#active = at < -1 ? count - 1 : at >= count ? -1 : at
		for (const [index, option] of [...this.#list.children].entries()) {
			option.setAttribute('aria-selected', String(index === this.#active))
			if (index === this.#active) option.scrollIntoView({ block: 'nearest' })
		}
		const { input } = this.#parts
		if (this.#active === -1) input.removeAttribute('aria-activedescendant')
		else input.setAttribute('aria-activedescendant', `${this.#list.id}-${this.#active}`)
	}

	#textOf(record: Row): string {
		const { relation } = this.#parts
		return nameOf(relation, record) ?? keyOf(relation, record)
	}
}

function keyOf({ by, path }: ChoiceParts['relation'], record: Row): string {
	return keyText(record, by.length > 0 ? by.map(([, other]) => other) : keyFields(path))
}
