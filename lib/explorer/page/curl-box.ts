/** Shows a request as a curl command, with a button that copies it. */
import type { App, Target } from './app.ts'
import { type CurlRequest, curlLine } from './curl.ts'
import { button, el } from './dom.ts'

interface RequestParts extends Pick<CurlRequest, 'body' | 'headers'> {
	readonly target: Target
}

export function lineFor(app: App, { target, body, headers }: RequestParts): string {
	return curlLine({
		...{ method: target.method, body, headers },
		url: location.origin + app.urlFor(target),
		hasToken: app.session.kind === 'bearer',
	})
}

export function curlBox(app: App, request: RequestParts): HTMLElement {
	const line = lineFor(app, request)
	const code = el('code', { tabindex: '0', role: 'region', 'aria-label': 'curl' }, line)
	const isSigned = app.session.kind === 'hmac'
	return el(
		'div',
		{ class: 'curl' },
		code,
		copyButton(() => line, 'Copy'),
		isSigned &&
			el('p', { class: 'quiet' }, 'A signature is valid for one request only: this command has none.'),
	)
}

/** A button that copies a text and shows whether that worked. */
export function copyButton(text: () => string, label: string): HTMLButtonElement {
	const copy = button(label, { class: 'small', 'aria-live': 'polite' }, async () => {
		try {
			await navigator.clipboard.writeText(text())
			copy.textContent = 'Copied'
		} catch {
			// On pages other than https and localhost, browsers have no clipboard.
			copy.textContent = 'Not copied'
		}
		setTimeout(() => {
			copy.textContent = label
		}, 1_500)
	})
	return copy
}
