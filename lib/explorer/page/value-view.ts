/** A value as text, in a cell or beside its name. */
import { el, link } from './dom.ts'
import { plainText } from './fields.ts'
import { Digits, isList, isRecord, type JsonValue, textOf } from './json-value.ts'
import { isLinked, jsonView } from './json-view.ts'

/** In one line. What doesn't fit is cut by the style, and whole in the title. */
export function cellValue(value: JsonValue | undefined, roots: readonly string[]): HTMLElement | string {
	if (value === undefined) return ''
	if (value === null) return el('span', { class: 'null' }, 'null')
	if (typeof value === 'boolean') return el('span', { class: 'word' }, String(value))
	if (value instanceof Digits) return el('span', { class: 'number' }, value.text)
	const text = plainText(value)
	if (typeof value === 'string' && isLinked(value, roots))
		return link(value, value, { class: 'clip', title: value })
	const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text
	return el('span', { class: 'clip', title: text.length > 30 && text }, shown)
}

/** As a whole. */
export function wholeValue(value: JsonValue, roots: readonly string[]): HTMLElement | string {
	if (isRecord(value) || isList(value)) return smallList(value) ?? jsonView(textOf(value), roots)
	if (typeof value !== 'string') return cellValue(value, roots)
	if (isLinked(value, roots)) return link(value, value)
	return value === '' ? el('span', { class: 'null' }, 'empty') : el('span', { class: 'prose' }, value)
}

/** Words in a row, such as tags. */
function smallList(value: JsonValue): HTMLElement | undefined {
	if (!isList(value) || value.length === 0 || value.length > 20) return undefined
	if (!value.every((one) => typeof one === 'string' && one.length <= 40 && one !== '')) return undefined
	return el('ul', { class: 'tags' }, ...value.map((one) => el('li', {}, plainText(one))))
}
