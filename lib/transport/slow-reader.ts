/**
 * Limits for clients that don't read their answers, which stay in memory: `sendTimeoutSeconds` for each connection, and
 * `maxUnsentBytes` for all. For `send.ts`.
 */
import type { Readable } from 'node:stream'
import type { Bytes } from '../base/time.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { cutOff, type Outgoing } from './outgoing.ts'

/** Limits an answer that has been written, but that the client hasn't read completely. */
export function limitWait(exchange: Exchange, response: Outgoing, body: string | Uint8Array | null): void {
	setSendTimeout(exchange, response)
	const count = unsentCounter(exchange, response)
	response.once('finish', () => count?.(undefined))
	// V8 may use two bytes per character.
	count?.(typeof body === 'string' ? 2 * body.length : (body?.length ?? 0))
}

/** Limits pipelined requests whose methods still run: their client can send many more meanwhile. */
export function limitPending(exchange: Exchange, response: Outgoing): void {
	const count = unsentCounter(exchange, response)
	response.once('finish', () => count?.(undefined))
	count?.(0)
}

/** Limits a stream that waits for its client, or for earlier pipelined answers. */
export function limitStream(exchange: Exchange, response: Outgoing, source: Readable): void {
	setSendTimeout(exchange, response)
	const count = unsentCounter(exchange, response)
	if (count === undefined) return
	const sent = (): void => count(undefined)
	source.on('pause', () => {
		// The source then reads on until its own buffer is full, perhaps with another chunk of this size.
		const { writableLength } = response
		count(writableLength + Math.max(source.readableHighWaterMark, writableLength))
	})
	response.on('drain', sent).on('finish', sent)
	if (response.socket !== null) return
	count(0)
	response.once('socket', () => source.isPaused() || sent())
}

/** Closes the connection of a client that reads nothing for `sendTimeout`: its answer would stay in memory for ever. */
function setSendTimeout(exchange: Exchange, response: Outgoing): void {
	const { sendTimeout } = exchange.app
	if (!Number.isFinite(sendTimeout)) return
	response.on('timeout', () => {
		if (response.writableLength > 0) cutOff(exchange, response)
		else response.setTimeout(sendTimeout)
	})
	response.setTimeout(sendTimeout)
	// Cleared before node uses the connection for the next answer, whose method may take longer.
	response.prependOnceListener('finish', () => response.setTimeout(0))
}

/** Returns a function that records how many bytes of the answer's body are unsent; see `UnsentAnswers.counter`. */
function unsentCounter(
	exchange: Exchange,
	response: Outgoing,
): ((body: Bytes | undefined) => void) | undefined {
	const { app, incoming } = exchange
	const channel = exchange.isHttp2 ? response.stream : incoming.socket
	if (channel === undefined || channel === null) return undefined
	exchange.countUnsent ??= app.unsent.counter(channel, {
		ip: () => exchange.ip(),
		cutOff() {
			exchange.log('warn', 'the answer was cut off: more than maxUnsentBytes were waiting to be read')
			cutOffConnection(exchange, response)
		},
	})
	return exchange.countUnsent
}

/**
 * Cuts off a connection with all its answers; with HTTP/2, only the stream. Destroys the request's socket, because a
 * pipelined response that waits for earlier ones has none. Marks the connection first, because node still emits requests
 * that have already arrived on it.
 */
function cutOffConnection(exchange: Exchange, response: Outgoing): void {
	const { socket } = exchange.incoming
	if (exchange.isHttp2 || socket === null) {
		cutOff(exchange, response)
		return
	}
	exchange.app.pipelines.markEnding(socket)
	socket.destroy?.()
}
