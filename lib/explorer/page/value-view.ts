/** Shows values: in a table cell, as a field, or as formatted and coloured JSON with links. */
import { tokensOf } from '../pretty-json.ts'
import { el, link } from './dom.ts'
import { plainText } from './fields.ts'
import { isList, isRecord, type JsonValue, RawNumber, textOf } from './json-value.ts'
import { isPath } from './path.ts'

/** A value in one line. The style truncates it; the title has all of it. */
export function cellValue(value: JsonValue | undefined, roots: readonly string[]): HTMLElement | string {
	if (value === undefined) return ''
	if (value === null) return el('span', { class: 'null' }, 'null')
	if (typeof value === 'boolean') return el('span', { class: 'word' }, String(value))
	if (value instanceof RawNumber) return el('span', { class: 'number' }, value.text)
	const text = plainText(value)
	if (typeof value === 'string' && isLinked(value, roots))
		return link(value, value, { class: 'clip', title: value })
	const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text
	return el('span', { class: 'clip', title: text.length > 30 && text }, shown)
}

export function wholeValue(value: JsonValue, roots: readonly string[]): HTMLElement | string {
	if (isRecord(value) || isList(value)) return tagList(value) ?? jsonView(textOf(value), roots)
	if (typeof value !== 'string') return cellValue(value, roots)
	if (isLinked(value, roots)) return link(value, value)
	return value === '' ? el('span', { class: 'null' }, 'empty') : el('span', { class: 'prose' }, value)
}

/** A short list of short strings as tags; `undefined` for other values. */
function tagList(value: JsonValue): HTMLElement | undefined {
	if (!isList(value) || value.length === 0 || value.length > 20) return undefined
	if (!value.every((one) => typeof one === 'string' && one.length <= 40 && one !== '')) return undefined
	return el('ul', { class: 'tags' }, ...value.map((one) => el('li', {}, plainText(one))))
}

/**
 * Maximum number of coloured tokens. The rest is one text: a hundred thousand elements would keep a browser busy for
 * seconds.
 */
const MAX_COLOURED = 20_000

export function jsonView(text: string, roots: readonly string[]): HTMLElement {
	const view = el('pre', { class: 'json', tabindex: '0', 'aria-label': 'JSON', role: 'region' })
	let coloured = 0
	let plain = ''
	for (const { kind, text: part } of tokensOf(text)) {
		if (kind === 'other' || coloured === MAX_COLOURED) {
			plain += part
			continue
		}
		view.append(plain)
		plain = ''
		coloured++
		const url = kind === 'text' ? urlIn(part, roots) : undefined
		if (url === undefined) view.append(el('span', { class: kind }, part))
		else view.append(el('span', { class: kind }, '"', link(url, url), '"'))
	}
	view.append(plain)
	return view
}

/** The URL in a JSON string; `undefined` if it isn't one. */
function urlIn(quoted: string, roots: readonly string[]): string | undefined {
	const text = quoted.slice(1, -1)
	return text.includes('\\') || !isLinked(text, roots) ? undefined : text
}

/** Whether a text becomes a link: an HTTP URL, or the path of a handler. */
function isLinked(text: string, roots: readonly string[]): boolean {
	if (/^https?:\/\/[^\s<>"\\]+$/i.test(text)) return true
	if (!isPath(text)) return false
	const path = text.split(/[?#]/, 1)[0] ?? text
	return roots.some((root) => root !== '' && (path === root || path.startsWith(`${root}/`)))
}
