/** The line of curl for a request, with a button that copies it. */
import type { App } from './app.ts'
import { type CurlRequest, curlLine } from './curl.ts'
import { button, el } from './dom.ts'

type Asked = Pick<CurlRequest, 'method' | 'body' | 'headers'>

export function lineFor(app: App, asked: Asked): string {
	return curlLine({
		...asked,
		url: location.origin + app.urlFor(asked.method),
		hasToken: app.session.kind === 'bearer',
	})
}

export function curlBox(app: App, asked: Asked): HTMLElement {
	const line = lineFor(app, asked)
	const code = el('code', { tabindex: '0', role: 'region', 'aria-label': 'curl' }, line)
	const isSigned = app.session.kind === 'hmac'
	return el(
		'div',
		{ class: 'curl' },
		code,
		copyButton(() => line, 'Copy'),
		isSigned && el('p', { class: 'quiet' }, 'A signature is good for one request: the line has none.'),
	)
}

/** Copies a text, and says so. */
export function copyButton(text: () => string, label: string): HTMLButtonElement {
	const copy = button(label, { class: 'small', 'aria-live': 'polite' }, async () => {
		copy.textContent = (await copied(text())) ? 'Copied' : 'Not copied'
		setTimeout(() => {
			copy.textContent = label
		}, 1_500)
	})
	return copy
}

/** Browsers let pages copy on https and on localhost alone. */
async function copied(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text)
		return true
	} catch {
		return false
	}
}
