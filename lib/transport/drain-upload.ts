/** What a client still sends of a body that nobody reads: taken in, so that it sees its answer, and not for ever. */
import type { Deadlines, Due } from '../base/deadlines.ts'
import { RestError } from '../base/error.ts'
import type { Bytes, Milliseconds } from '../base/time.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Peer } from '../request/incoming.ts'

/** How much is taken in and thrown away: most clients read nothing before they have written everything. */
const DRAINED: Bytes = 64 * 1_048_576
/** How long, or for `bodyTimeout` where that is less. */
const DRAIN_TIME: Milliseconds = 5_000

/** Calls `end` once the body has ended, has come to 64 MiB, or has taken 5 s: who reads it still is told. */
export function drainUpload(exchange: Exchange, end: () => void): void {
	const { incoming, app } = exchange
	let taken = 0
	const stop = (): void => {
		app.deadlines.delete(drain)
		if (!incoming.readableEnded) exchange.body.cut(tooSlow())
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

/**
 * The rest of a body whose request is answered, and whose connection goes on behind it. node skips it for as long as it
 * comes, byte by byte.
 */
export class UnreadRest implements Due {
	readonly due: Milliseconds
	readonly socket: Peer
	readonly #exchange: Exchange
	earlier: Due | undefined = undefined
	later: Due | undefined = undefined
	waiting = false

	constructor(exchange: Exchange, socket: Peer, due: Milliseconds) {
		this.#exchange = exchange
		this.socket = socket
		this.due = due
	}

	/** The answer was given a while ago, and where the next request begins will never be known. */
	expire(): void {
		this.#exchange.body.cut(tooSlow())
		this.socket.destroy?.()
	}
}

/**
 * Ends the connection of a request whose body isn't whole by `bodyTimeout`; where a streaming method reads it still, by
 * that method's time.
 */
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
	// The request isn't told any more that its client has left, nor is who reads it.
	const leave = (): void => {
		stop()
		exchange.body.cut(new RestError('bad_request', 'The body was cut off before its end'))
	}
	deadlines.add(rest)
	incoming.once('end', stop)
	socket.once('close', leave)
}

/** What a method that reads on behind its answer is told. */
function tooSlow(): RestError {
	return new RestError('request_timeout', 'The rest of the body took too long')
}

/** The connections on which such rests are under way. */
export function restsOf(deadlines: Deadlines): Set<Peer> {
	return new Set(deadlines.values().flatMap((item) => (item instanceof UnreadRest ? [item.socket] : [])))
}

function ignore(): void {}
