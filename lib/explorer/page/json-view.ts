/** JSON as a page shows it: laid out, coloured, with links where a text is a URL. */
import { piecesOf } from '../pretty-json.ts'
import { el, link } from './dom.ts'
import { isPath } from './path.ts'

/** What follows has one colour: a hundred thousand elements would keep a browser busy for seconds. */
const MOST_COLOURED = 20_000

export function jsonView(text: string, roots: readonly string[]): HTMLElement {
	const view = el('pre', { class: 'json', tabindex: '0', 'aria-label': 'JSON', role: 'region' })
	let coloured = 0
	let plain = ''
	for (const { kind, text: part } of piecesOf(text)) {
		if (kind === 'other' || coloured === MOST_COLOURED) {
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

/** The URL that a quoted text is; `undefined` for any other text. */
function urlIn(quoted: string, roots: readonly string[]): string | undefined {
	const text = quoted.slice(1, -1)
	return text.includes('\\') || !isLinked(text, roots) ? undefined : text
}

/** Whether a text leads somewhere: to the web, or to a handler of this server. */
export function isLinked(text: string, roots: readonly string[]): boolean {
	if (/^https?:\/\/[^\s<>"\\]+$/i.test(text)) return true
	if (!isPath(text)) return false
	const path = text.split(/[?#]/, 1)[0] ?? text
	return roots.some((root) => root !== '' && (path === root || path.startsWith(`${root}/`)))
}
