/** Records that come one by one, as the text of a JSON array. */

/** Characters gathered before they are passed on: one chunk a record would cost more than the record. */
const BATCH = 16_384

/** What follows a first record that has been waited for. */
export interface Records {
	readonly first: IteratorResult<unknown>
	readonly rest: AsyncIterator<unknown>
}

/** Waits for the first record, so that what fails at once is told as an error. */
export async function firstThenRest(source: AsyncIterable<unknown>): Promise<Records> {
	const rest = source[Symbol.asyncIterator]()
	return { first: await rest.next(), rest }
}

/**
 * The records between `head` and `tail`, in pieces of about 16 kB, or of what is there when the next
 * record keeps it waiting. Pulled one by one: nothing is read ahead of what the client takes. Closing it early closes the
 * source, also before the first piece and while a record is awaited.
 */
export function jsonArray(records: Records, head: string, tail: string): AsyncIterable<string> {
	const feed: Feed = { isAsked: false }
	const pieces = piecesOf(records, head, tail, feed)
	let begun = false
	const iterator: AsyncIterator<string, void> = {
		next() {
			begun = true
			return pieces.next()
		},
		async return() {
			// A generator that was never begun is closed without a look at its `finally`.
			const isUnread = !begun && records.first.done !== true
			begun = true
			const closing = isUnread || feed.isAsked ? records.rest.return?.() : undefined
			// What fails while it closes concerns nobody, where a record is awaited still.
			if (isUnread) await closing
			else closing?.catch(() => {})
			return pieces.return()
		},
	}
	return { [Symbol.asyncIterator]: () => iterator }
}

/** Whether the source has been asked for a record that isn't there yet: `piecesOf` can't close it then. */
interface Feed {
	isAsked: boolean
}

async function* piecesOf(
	records: Records,
	head: string,
	tail: string,
	feed: Feed,
): AsyncGenerator<string, void> {
	const { first, rest } = records
	let closes = first.done !== true
	try {
		let text = head
		let separator = ''
		for (let next = first; next.done !== true; ) {
			text += separator + (JSON.stringify(next.value) ?? 'null')
			separator = ','
			if (text.length >= BATCH) {
				yield text
				text = ''
			}
			// A source that has ended or failed by itself is not to be closed.
			closes = false
			feed.isAsked = true
			const pending = Promise.resolve(rest.next())
			if (text !== '' && (await isSlow(pending))) {
				yield text
				text = ''
			}
			next = await pending
			feed.isAsked = false
			closes = next.done !== true
		}
		yield text + tail
	} finally {
		feed.isAsked = false
		if (closes) await rest.return?.()
	}
}

/** Turns of the microtask queue in which a record that is there already arrives. */
const TURNS = 3

/**
 * Whether a record is still awaited at the end of this turn of the event loop: what has been gathered is
 * then sent, so that a feed shows each record when it comes.
 */
async function isSlow(pending: Promise<unknown>): Promise<boolean> {
	let arrived = false
	const arrive = (): void => {
		arrived = true
	}
	pending.then(arrive, arrive)
	for (let turn = 0; turn < TURNS; turn++) {
		await undefined
		if (arrived) return false
	}
	await new Promise(setImmediate)
	return !arrived
}
