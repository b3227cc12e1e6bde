/** The text of an answer's body, as much of it as a page shows. */
import { StringDecoder } from 'node:string_decoder'
import type { Milliseconds } from '../base/time.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Reply } from '../reply/headers.ts'

/** Most characters that are shown. */
const LONGEST = 1_048_576
/** How long a stream is waited for: of a feed that never ends, what came until then is shown. */
const LONGEST_WAIT: Milliseconds = 2_000

const TOO_LONG = 'Too long to be shown as a whole: this is its beginning.'
const TOO_SLOW = 'There is more to come: this is what came within two seconds.'
const BROKEN = 'The answer broke off here.'

export interface BodyText {
	readonly text: string
	/** Says why it isn't the whole; `undefined` where it is. */
	readonly note: string | undefined
}

export async function bodyText(exchange: Exchange, { body }: Reply): Promise<BodyText> {
	if (body === null) return { text: '', note: undefined }
	if (typeof body === 'string') return bounded(body)
	if (body instanceof Uint8Array) return bounded(Buffer.from(body).toString('utf8'))
	return streamedText(exchange, body)
}

function bounded(text: string): BodyText {
	return text.length <= LONGEST ? { text, note: undefined } : { text: text.slice(0, LONGEST), note: TOO_LONG }
}

/** Reads pieces up to the bounds, and closes their source. */
async function streamedText(exchange: Exchange, body: AsyncIterable<string | Uint8Array>): Promise<BodyText> {
	const pieces = body[Symbol.asyncIterator]()
	const late = lateness()
	const decoder = new StringDecoder('utf8')
	let text = ''
	let note: string | undefined
	try {
		while (note === undefined) {
			const next = await Promise.race([pieces.next(), late.promise])
			if (next === 'late' || exchange.replied) note = TOO_SLOW
			else if (next.done === true) return { text, note: undefined }
			else text += typeof next.value === 'string' ? next.value : decoder.write(Buffer.from(next.value))
			if (text.length > LONGEST) note = TOO_LONG
		}
	} catch (error) {
		exchange.log('error', 'the answer was cut off', error)
		return { text, note: BROKEN }
	} finally {
		late.cancel()
	}
	// Tells whoever makes the rest that nobody takes it. What its end throws concerns nobody any more.
	exchange.abandon()
	pieces.return?.()?.catch(() => {})
	return { text: text.slice(0, LONGEST), note }
}

function lateness(): { promise: Promise<'late'>; cancel: () => void } {
	let timer: NodeJS.Timeout | undefined
	const promise = new Promise<'late'>((resolve) => {
		timer = setTimeout(() => resolve('late'), LONGEST_WAIT)
	})
	return { promise, cancel: () => clearTimeout(timer) }
}
