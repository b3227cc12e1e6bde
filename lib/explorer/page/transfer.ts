/** What exports and imports share: formats, and the box with the progress. Used by `export-list.ts` and `import-form.ts`. */
import type { App } from './app.ts'
import { button, el } from './dom.ts'

/** The types of the formats, by the endings of their files. */
export const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const

export interface Transfer {
	/** Aborted when the user stops it. */
	readonly signal: AbortSignal
	show(progress: string): void
	/** Removes its box. */
	end(): void
}

/**
 * Shows a box that stays when the user goes to another page, with a button that stops the transfer.
 *
 * @returns `undefined` if the transfer `key` is running already: a double click must not import twice
 */
export function beginTransfer(app: App, key: string, text: string): Transfer | undefined {
	if (app.transfers.has(key)) return undefined
	app.transfers.add(key)
	const stopping = new AbortController()
	const state = el('span', { class: 'quiet' })
	const stop = button('Stop', { class: 'small' }, () => stopping.abort())
	const box = el('div', { class: 'notice' }, el('p', { role: 'status' }, text), state, stop)
	document.getElementById('notices')?.append(box)
	return {
		signal: stopping.signal,
		show(progress) {
			state.textContent = progress
		},
		end() {
			const hadFocus = document.activeElement === stop
			box.remove()
			app.transfers.delete(key)
			if (hadFocus) app.focusHeading()
		},
	}
}
