/** What a client still sends of a body that nobody reads: taken in, so that it sees its answer, and not for ever. */
import type { Deadlines, Due } from '../deadlines.ts'
import type { Exchange } from '../exchange.ts'
import type { Peer } from '../incoming.ts'
import type { Bytes, Milliseconds } from '../time.ts'

/** How much is taken in and thrown away: most clients read nothing before they have written everything. */
const DRAINED: Bytes = 64 * 1_048_576
/** How long, or for `bodyTimeout` where that is less. */
const DRAIN_TIME: Milliseconds = 5_000

/** Calls `end` once the body has ended, has come to 64 MiB, or has taken 5 s. */
export function drainUpload({ incoming, app }: Exchange, end: () => void): void {
	let taken = 0
	const stop = (): void => {
		app.deadlines.delete(drain)
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
 * comes, byte by byte; by `bodyTimeout` it must have ended.
 */
export class UnreadRest implements Due {
	readonly due: Milliseconds
	readonly socket: Peer
	earlier: Due | undefined = undefined
	later: Due | undefined = undefined
	waiting = false

	constructor(socket: Peer, due: Milliseconds) {
		this.socket = socket
		this.due = due
	}

	/** The answer was given a while ago, and where the next request begins will never be known. */
	expire(): void {
		this.socket.destroy?.()
	}
}

/** Ends the connection of a request whose body isn't whole by `bodyTimeout`. */
export function boundRest({ incoming, app }: Exchange): void {
	const { socket } = incoming
	const { deadlines, bodyTimeout } = app
	if (socket?.once === undefined) return
	const rest = new UnreadRest(socket, deadlines.clock() + bodyTimeout)
	const stop = (): void => {
		deadlines.delete(rest)
		socket.off?.('close', stop)
	}
	deadlines.add(rest)
	incoming.once('end', stop)
	// The request isn't told any more that its client has left.
	socket.once('close', stop)
}

/** The connections on which such rests are under way. */
export function restsOf(deadlines: Deadlines): Set<Peer> {
	return new Set(deadlines.values().flatMap((item) => (item instanceof UnreadRest ? [item.socket] : [])))
}

function ignore(): void {}
