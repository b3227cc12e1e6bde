/** Ends the watch of a request over node:http when its response ends. For `node-http.ts` and `send.ts`. */
import type { Exchange } from '../exchange/exchange.ts'
import type { Watched } from '../exchange/watched.ts'
import type { Outgoing } from './outgoing.ts'

/** Ends the watch when the answer has been written, or the client has disconnected. */
export function watchResponse(watch: Watched, exchange: Exchange, response: Outgoing): void {
	const onClose = (): void => watch.end(false)
	// Must run before node's own listener, which detaches the connection.
	response.prependOnceListener('finish', () => {
		watch.end(!isCutOff(exchange, response))
		exchange.connection?.off('close', onClose)
	})
	response.once('close', onClose)
	// A pipelined response doesn't emit `close` when the client disconnects.
	if (exchange.connection !== response) exchange.connection?.once('close', onClose)
}

/**
 * Whether the answer is incomplete in spite of `finish`: HTTP/2 emits `finish` for every stream, and a destroyed socket
 * emits it although bytes were dropped.
 */
function isCutOff({ incoming }: Exchange, { stream, writableEnded }: Outgoing): boolean {
	if (stream !== undefined) return !writableEnded || stream.aborted === true
	return incoming.socket?.destroyed === true
}
