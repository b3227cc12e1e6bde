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

/** Downloads all records that match the list's conditions. Says at its end what came of it, whatever page is shown then. */
async function exportList(app: App, ending: Ending): Promise<void> {
	// The limit is that of a page.
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

/** What came of it, in words. @throws what `fetch` throws */
async function downloaded(app: App, { url, ending, name, transfer }: Download): Promise<string> {
	const { signal, show } = transfer
	const answer = await app.fetch(url, { headers: { Accept: TYPES[ending] }, signal })
	const { status, statusText: reason, body, headers } = answer
	if (!answer.ok) return messageOf({ status, reason, body: await answer.text() })
	if (body === null || !headers.get('content-type')?.startsWith(TYPES[ending]))
		return `${url} answered ${headers.get('content-type') ?? 'nothing'}, which is no export.`
	const lines = new Lines(ending)
	// Besides the records there is the line of names, or that of how many there were.
	const count = () => Math.max(0, lines.count - 1)
	const counting = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
		transform(bytes, controller) {
			lines.add(bytes)
			show(recordsOf(count()))
			controller.enqueue(bytes)
		},
	})
	const cut = `The export of ${name} was cut off; nothing is saved.`
	// The browser keeps what is large where it wants to.
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

/** Counts lines; in CSV, texts in quotes may have some. */
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
	// Some browsers read it only after the click.
	setTimeout(() => URL.revokeObjectURL(href), 60_000)
}
