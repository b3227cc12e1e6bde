/** Takes in the rest of a body that nobody reads, within bounds, so that the client sees its answer. For `send.ts`. */
import type { Deadlines, Due } from '../base/deadlines.ts'
import { RestError } from '../base/error.ts'
import type { Bytes, Milliseconds } from '../base/time.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { cutOff } from '../request/body.ts'
import type { Peer } from '../request/incoming.ts'

/** Most bytes read and dropped: most clients read nothing before they have written everything. */
const DRAINED: Bytes = 64 * 1_048_576
/** Longest time, unless `bodyTimeout` is shorter. */
const DRAIN_TIME: Milliseconds = 5_000

/** Calls `end` when the body has ended, or after 64 MiB or 5 s; a method that still reads it then gets an error. */
export function drainUpload(exchange: Exchange, end: () => void): void {
	const { incoming, app } = exchange
	let taken = 0
	const stop = (): void => {
		app.deadlines.delete(drain)
		if (!incoming.readableEnded) exchange.body.destroyStream(tooSlow())
		incoming.off('data', take).off('end', stop).off('close', stop).off('error', stop).on('error', ignore)
		end()
	}
	const take = (chunk: Uint8Array): void => {
		taken += chunk.length
		if (taken > DRAINED) stop()
	}
	const drain: Due = { due: app.deadlines.clock() + Math.min(DRAIN_TIME, app.bodyTimeout), expire: stop }
	app.deadlines.add(drain)
	incoming.on('data', take).on('end', stop).on('close', stop).on('error', stop)
	incoming.resume()
}

/** The rest of a body on a connection that stays open after the answer: node would skip it for as long as it trickles. */
export class UnreadRest implements Due {
	readonly due: Milliseconds
	readonly socket: Peer
	readonly #exchange: Exchange
	earlier: Due | undefined = undefined
	later: Due | undefined = undefined
	isWaiting = false

	constructor(exchange: Exchange, socket: Peer, due: Milliseconds) {
		this.#exchange = exchange
		this.socket = socket
		this.due = due
	}

	/** The request was answered long ago, and the next one can't begin before its body ends. */
	expire(): void {
		this.#exchange.body.destroyStream(tooSlow())
		this.socket.destroy?.()
	}
}

/** Ends the connection when the body isn't complete within `bodyTimeout`, or the time of a method that still reads it. */
export function boundRest(exchange: Exchange): void {
	const { incoming, app, action } = exchange
	const { socket } = incoming
	const { deadlines, bodyTimeout } = app
	if (socket?.once === undefined) return
	const isRead = incoming.listenerCount('data') > 0
	const time = isRead ? (action?.streaming?.handlerTimeout ?? bodyTimeout) : bodyTimeout
	const rest = new UnreadRest(exchange, socket, deadlines.clock() + time)
	const stop = (): void => {
		deadlines.delete(rest)
		socket.off?.('close', leave)
	}
	// After the answer node emits nothing on the request when the client leaves: the reader must get an error.
	const leave = (): void => {
		stop()
		exchange.body.destroyStream(cutOff())
	}
	deadlines.add(rest)
	incoming.once('end', stop)
	socket.once('close', leave)
}

/** The error for a method that reads on after its answer. */
function tooSlow(): RestError {
	return new RestError('request_timeout', 'The rest of the body took too long')
}

/** The connections that are still receiving such rests. */
export function restsOf(deadlines: Deadlines): Set<Peer> {
	return new Set(deadlines.values().flatMap((item) => (item instanceof UnreadRest ? [item.socket] : [])))
}

function ignore(): void {}
