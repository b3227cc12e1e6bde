/** Exports of the page's list to a file. Used by `list-tools.ts`. */
import { type App, reasonOf } from './app.ts'
import { messageOf } from './content.ts'
import { button, el } from './dom.ts'
import { withParameter } from './list-query.ts'
import { pathOf } from './path.ts'
import { recordsOf } from './together.ts'
import { beginTransfer, type Transfer, TYPES } from './transfer.ts'

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

/** Downloads all records that match the list's conditions. A notice reports the result, even on another page. */
async function exportList(app: App, ending: Ending): Promise<void> {
	// Without `limit`, which is the size of a page.
	const url = withParameter(app.url, 'limit', '')
	const list = decodeURIComponent(pathOf(url).split('/').filter(Boolean).at(-1) ?? 'records')
	const name = `${list}.${ending}`
	const transfer = beginTransfer(app, `export ${url} ${ending}`, `Exporting ${name}…`)
	if (transfer === undefined) return
	try {
		app.notify(await downloaded(app, { url, ending, name, transfer }))
	} catch (error) {
		app.notify(transfer.signal.aborted ? 'The export was stopped.' : reasonOf(error))
	} finally {
		transfer.end()
	}
}

interface Download {
	readonly url: string
	readonly ending: Ending
	readonly name: string
	readonly transfer: Transfer
}

/** Downloads and saves the file; returns a message for the user. @throws what `fetch` throws */
async function downloaded(app: App, { url, ending, name, transfer }: Download): Promise<string> {
	const { signal, show } = transfer
	const answer = await app.fetch(url, { headers: { Accept: TYPES[ending] }, signal })
	const { status, statusText: reason, body, headers } = answer
	if (!answer.ok) return messageOf({ status, reason, body: await answer.text() })
	if (body === null || !headers.get('content-type')?.startsWith(TYPES[ending]))
		return `${url} answered ${headers.get('content-type') ?? 'nothing'}, which is no export.`
	const lines = new Lines(ending)
	// One line isn't a record: the header of CSV, or the last line of NDJSON, which has the number of records.
	const count = () => Math.max(0, lines.count - 1)
	const counting = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
		transform(bytes, controller) {
			lines.add(bytes)
			show(recordsOf(count()))
			controller.enqueue(bytes)
		},
	})
	const cut = `The export of ${name} was cut off; nothing is saved.`
	// As a Blob, which browsers may keep on disk if it is large.
	const content = await new Response(body.pipeThrough(counting)).blob().catch((error: unknown) => {
		if (signal.aborted) throw error
		return undefined
	})
	if (content === undefined) return cut
	const end = `{"done":${count()}}\n`
	if (ending === 'ndjson' && (await content.slice(-end.length).text()) !== end) return cut
	save(content, name)
	return `Exported ${recordsOf(count())} to ${name}.`
}

const [QUOTE, LINE_FEED] = [0x22, 0x0a]

/** Counts lines; in CSV, without line breaks in quoted texts. */
class Lines {
	count = 0
	readonly #ending: Ending
	#isQuoted = false

	constructor(ending: Ending) {
		this.#ending = ending
	}

	add(bytes: Uint8Array): void {
		for (const byte of bytes) {
			if (byte === QUOTE && this.#ending === 'csv') this.#isQuoted = !this.#isQuoted
			else if (byte === LINE_FEED && !this.#isQuoted) this.count++
		}
	}
}

function save(content: Blob, name: string): void {
	const href = URL.createObjectURL(content)
	el('a', { href, download: name }).click()
	// Later, because some browsers read the URL only after the click.
	setTimeout(() => URL.revokeObjectURL(href), 60_000)
}
