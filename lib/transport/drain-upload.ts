/**
 * Reads and drops the rest of a request's body, within limits: most clients read the answer only when they have sent
 * the whole body. For `send.ts`.
 */
import type { Deadlines, Due } from '../base/deadlines.ts'
import { RestError } from '../base/error.ts'
import type { Bytes, Milliseconds } from '../base/time.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { cutOffError } from '../request/body.ts'
import type { Peer } from '../request/incoming.ts'

const MAX_DRAINED: Bytes = 64 * 1_048_576
/** Maximum time for dropping a body, unless `bodyTimeout` is shorter. */
const MAX_DRAIN_MS: Milliseconds = 5_000

/**
 * Drops the rest of the body. Calls `end` when the body has ended, or after 64 MiB or 5 s: a method that still reads it
 * then gets an error.
 */
export function drainUpload(exchange: Exchange, end: () => void): void {
	const { incoming, app } = exchange
	let size = 0
	const stop = (): void => {
		app.deadlines.delete(drain)
		if (!incoming.readableEnded) exchange.body.destroyStream(tooSlow())
		incoming.off('data', drop).off('end', stop).off('close', stop).off('error', stop).on('error', ignore)
		end()
	}
	const drop = (chunk: Uint8Array): void => {
		size += chunk.length
		if (size > MAX_DRAINED) stop()
	}
	const drain = app.deadlines.after(Math.min(MAX_DRAIN_MS, app.bodyTimeout), stop)
	incoming.on('data', drop).on('end', stop).on('close', stop).on('error', stop)
	incoming.resume()
}

/** Deadline for the rest of a body on a connection that stays open: node itself would wait for ever. */
export class UnreadRest implements Due {
	readonly due: Milliseconds
	readonly socket: Peer
	readonly #exchange: Exchange

	constructor(exchange: Exchange, socket: Peer, due: Milliseconds) {
		this.#exchange = exchange
		this.socket = socket
		this.due = due
	}

	/** Closes the connection: the next request can't begin before this body ends. */
	expire(): void {
		this.#exchange.body.destroyStream(tooSlow())
		this.socket.destroy?.()
	}
}

/**
 * Closes the connection if the body isn't complete within `bodyTimeout`, or, if a method still reads it, within that
 * method's timeout.
 */
export function limitRest(exchange: Exchange): void {
	const { incoming, app, action } = exchange
	const { socket } = incoming
	const { deadlines, bodyTimeout } = app
	if (socket?.once === undefined) return
	const isRead = incoming.listenerCount('data') > 0
	const time = isRead ? (action?.streaming?.handlerTimeout ?? bodyTimeout) : bodyTimeout
	const rest = new UnreadRest(exchange, socket, deadlines.clock() + time)
	const stop = (): void => {
		deadlines.delete(rest)
		socket.off?.('close', onClose)
	}
	// After the answer, node emits nothing on the request when the client disconnects: a method that still reads the body
	// gets its error here.
	const onClose = (): void => {
		stop()
		exchange.body.destroyStream(cutOffError())
	}
	deadlines.add(rest)
	incoming.once('end', stop)
	socket.once('close', onClose)
}

/** The error for a method that still reads the body after its answer. */
function tooSlow(): RestError {
	return new RestError('request_timeout', 'The rest of the body took too long')
}

/** The connections that are still receiving the rest of a body. */
export function connectionsWithRest(deadlines: Deadlines): Set<Peer> {
	return new Set(deadlines.values().flatMap((item) => (item instanceof UnreadRest ? [item.socket] : [])))
}

function ignore(): void {}
