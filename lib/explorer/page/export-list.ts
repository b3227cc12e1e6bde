/** Exports of the page's list to a file, with their progress. Used by `list-tools.ts`. */
import { type App, reasonOf } from './app.ts'
import { messageOf } from './content.ts'
import { button, el } from './dom.ts'
import { withParameter } from './list-query.ts'
import { pathOf } from './path.ts'
import { recordsOf } from './together.ts'

/** The formats, by the endings of their files. */
export const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const
const NAMES = { csv: 'CSV', ndjson: 'lines of JSON' } as const
type Ending = keyof typeof TYPES

/** A button for each format; none if the caller may not export the list. */
export function exportButtons(app: App): HTMLElement[] {
	if (!app.data.operations.some((operation) => operation.exports)) return []
	return (['csv', 'ndjson'] as const).map((ending) =>
		button(`Export ${NAMES[ending]}`, { class: 'small', 'data-key': `export ${ending}` }, () => {
			void exportList(app, ending)
		}),
	)
}

/** Downloads all records that match the list's conditions. */
async function exportList(app: App, ending: Ending): Promise<void> {
	const stopping = new AbortController()
	const { signal } = stopping
	const show = progress(app, 'Exporting…', () => stopping.abort())
	try {
		const headers = { Accept: TYPES[ending] }
		const answer = await app.fetch(withParameter(app.url, 'limit', ''), { headers, signal })
		if (!answer.ok || answer.body === null) {
			const { status, statusText: reason } = answer
			return app.notify(messageOf({ status, reason, body: await answer.text() }))
		}
		// Small pieces would stay in memory; a browser keeps large ones on the disk.
		let [whole, pieces, size, records] = [new Blob(), [] as Uint8Array<ArrayBuffer>[], 0, 0]
		const count = rowCounter(ending)
		const reader = answer.body.getReader()
		for (;;) {
			const { done, value } = await reader.read()
			if (value !== undefined) {
				pieces.push(value)
				size += value.length
				// Besides the records: the names of CSV, or the line that says how many there are.
				records = Math.max(0, count(value) - 1)
			}
			if (done || size > PIECE) {
				whole = new Blob([whole, ...pieces])
				pieces = []
				size = 0
			}
			if (done) break
			show(recordsOf(records))
		}
		const name = `${decodeURIComponent(pathOf(app.url).split('/').filter(Boolean).at(-1) ?? 'records')}.${ending}`
		save(whole, name)
		app.notify(`Exported ${recordsOf(records)} to ${name}.`)
	} catch (error) {
		app.notify(
			signal.aborted
				? 'The export was stopped.'
				: `The export was cut off; nothing is saved. ${reasonOf(error)}`,
		)
	}
}

/** Bytes. */
const PIECE = 4_194_304
const [QUOTE, LINE_FEED] = [0x22, 0x0a]

/** Counts the lines of what is passed to it; in CSV, texts in quotes may have some. */
function rowCounter(ending: Ending): (bytes: Uint8Array) => number {
	let [rows, isQuoted] = [0, false]
	return (bytes) => {
		for (const byte of bytes) {
			if (byte === QUOTE && ending === 'csv') isQuoted = !isQuoted
			else if (byte === LINE_FEED && !isQuoted) rows++
		}
		return rows
	}
}

function save(content: Blob, name: string): void {
	const href = URL.createObjectURL(content)
	el('a', { href, download: name }).click()
	// Some browsers read it only after the click.
	setTimeout(() => URL.revokeObjectURL(href), 60_000)
}

/** Shows how far something is, which screen readers don't read out each time, with a button that stops it. */
export function progress(app: App, text: string, stop: () => void): (done: string) => void {
	const state = el('span', { class: 'quiet' })
	app.notify(text, state, button('Stop', { class: 'small', 'data-key': 'stop' }, stop))
	return (done) => {
		state.textContent = done
	}
}
