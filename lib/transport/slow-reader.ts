/** The limit for a client that doesn't read its answer, which stays in memory: `sendTimeoutSeconds`. For `send.ts`. */
import type { Exchange } from '../exchange/exchange.ts'
import { cutOff, type Outgoing } from './outgoing.ts'

/** Closes the connection of a client that reads nothing for `sendTimeout`: its answer would stay in memory for ever. */
export function setSendTimeout(exchange: Exchange, response: Outgoing): void {
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
