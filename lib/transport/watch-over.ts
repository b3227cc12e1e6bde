/** Watches a request that came over a connection: from its head to the last byte of its answer, or until it is cut. */
import type { Exchange } from '../exchange/exchange.ts'
import type { Health } from '../health/health.ts'
import { Watch, type Watching } from '../observe/watch.ts'
import type { Outgoing } from './outgoing.ts'

/** Who is asked whether, and what, requests are watched. */
export interface Watcher {
	readonly watching: Watching
	readonly health: Health | undefined
}

/** The watch over a request, where there is somebody to be told; probes concern nobody. */
export function watchOf({ watching, health }: Watcher, exchange: Exchange): Watch | undefined {
	if (!watching.isOn || health?.probeOf(exchange.incoming) !== undefined) return undefined
	const watch = new Watch(exchange, watching)
	exchange.watch = watch
	return watch
}

/** Tells the watch when the answer is written, or never will be. */
export function watchOver(watch: Watch, exchange: Exchange, response: Outgoing): void {
	const left = (): void => watch.end(false)
	// Before node's own listener, which takes the connection away.
	response.prependOnceListener('finish', () => {
		watch.end(!isCut(exchange, response))
		exchange.connection?.off('close', left)
	})
	response.once('close', left)
	// A response that waits for its turn isn't told that the client has left.
	if (exchange.connection !== response) exchange.connection?.once('close', left)
}

/** Whether it has only seemed to end: HTTP/2 says `finish` of every stream, and a socket of bytes that it has dropped. */
function isCut({ incoming }: Exchange, { stream, writableEnded }: Outgoing): boolean {
	if (stream !== undefined) return !writableEnded || stream.aborted === true
	return incoming.socket?.destroyed === true
}
