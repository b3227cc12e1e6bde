/** Writes a reply to a response, as fast as the client takes it, and leaves the connection in a known state. */
import { finished, Readable } from 'node:stream'
import { hasBody } from '../body.ts'
import type { Due } from '../deadlines.ts'
import type { Exchange } from '../exchange.ts'
import type { Reply } from '../reply.ts'
import type { Bytes } from '../time.ts'
import type { Outgoing } from './outgoing.ts'

/** How much of an unread body is taken in and thrown away, so that its sender sees the answer. */
const DRAINED: Bytes = 8 * 1_048_576
/** How long. */
const DRAIN_TIME = 5_000

/** Sends a reply. `close` ends the connection after it. */
export function send(exchange: Exchange, response: Outgoing, reply: Reply, close = false): void {
	exchange.replied = true
	if (response.destroyed || response.headersSent) {
		discard(reply)
		return
	}
	const unread = isUnread(exchange)
	const last =
		close || exchange.closes || exchange.app.phase !== 'open' || (unread && tooMuchToSkip(exchange))
	if (last && exchange.incoming.httpVersionMajor === 1) reply.headers.push('Connection', 'close')
	response.writeHead(reply.status, reply.headers)
	const { body } = reply
	if (body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
		sendStream(exchange, response, body)
		return
	}
	if (last && unread && !exchange.broken) endAfterDrain(exchange, response, body)
	else if (body === null) response.end()
	else if (typeof body === 'string') response.end(body, reply.ascii ? 'latin1' : 'utf8')
	else response.end(body)
	if ((response.socket?.writableLength ?? 0) > 0) watchReader(exchange, response)
}

/** A body that nobody will send is closed, so that its source lets go of what it holds. */
export function discard({ body }: Reply): void {
	if (body instanceof Readable) body.destroy()
	else if (body !== null && typeof body === 'object' && Symbol.asyncIterator in body)
		void body[Symbol.asyncIterator]().return?.()
}

function isUnread(exchange: Exchange): boolean {
	const { incoming } = exchange
	return !incoming.complete && !incoming.readableEnded && hasBody(incoming)
}

/** node reads a small rest by itself, and the connection goes on; a large one isn't worth it. */
function tooMuchToSkip({ incoming }: Exchange): boolean {
	const length = Number(incoming.headers['content-length'])
	return !(length <= 65_536)
}

/**
 * Writes the whole answer, then takes in what the client is still sending, then ends. To end at once
 * would reset the connection under a client that is still writing, and it would never see the answer
 * (RFC 9112 §9.6).
 */
function endAfterDrain(exchange: Exchange, response: Outgoing, body: string | Uint8Array | null): void {
	if (body !== null) response.write(body)
	const { incoming, app } = exchange
	let taken = 0
	const end = (): void => {
		app.deadlines.delete(drain)
		incoming.off('data', take).off('end', end).off('close', end)
		response.end()
	}
	const take = (chunk: Buffer): void => {
		taken += chunk.length
		if (taken > DRAINED) end()
	}
	const drain: Due = { due: app.deadlines.clock() + DRAIN_TIME, expire: end }
	app.deadlines.add(drain)
	incoming.on('data', take).on('end', end).on('close', end).on('error', end)
	incoming.resume()
}

/**
 * Sends pieces as they come. An error after the first byte destroys the connection: a cut answer must not
 * look whole.
 */
function sendStream(exchange: Exchange, response: Outgoing, body: Readable | AsyncIterable<string>): void {
	const source =
		body instanceof Readable ? body : Readable.from(body, { objectMode: false, highWaterMark: 65_536 })
	watchReader(exchange, response)
	finished(source, { writable: false }, (error) => {
		if (error === undefined || error === null) return
		exchange.log('error', 'the answer was cut off', error)
		response.destroy()
	})
	response.on('close', () => source.destroy())
	source.pipe(response)
}

/**
 * Ends the connection of a client that takes nothing for the send time, while something waits for it: an
 * answer that nobody reads would be held for ever.
 */
function watchReader(exchange: Exchange, response: Outgoing): void {
	const { sendTimeout } = exchange.app
	if (!Number.isFinite(sendTimeout)) return
	response.on('timeout', () => {
		if (response.writableLength > 0 || (response.socket?.writableLength ?? 0) > 0) response.destroy()
		else response.setTimeout(sendTimeout)
	})
	response.setTimeout(sendTimeout)
}
