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
 * The records between `head` and `tail`, in pieces of about 16 kB. Pulled one by one: nothing is read
 * ahead of what the client takes. Closing it early closes the source.
 */
export async function* jsonArray(records: Records, head: string, tail: string): AsyncGenerator<string, void> {
	const { rest } = records
	let finished = false
	try {
		let text = head
		let separator = ''
		for (let next = records.first; ; next = await rest.next()) {
			if (next.done === true) break
			text += separator + (JSON.stringify(next.value) ?? 'null')
			separator = ','
			if (text.length < BATCH) continue
			yield text
			text = ''
		}
		finished = true
		yield text + tail
	} finally {
		if (!finished) await rest.return?.()
	}
}
