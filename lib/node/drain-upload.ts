/** Takes in what a client is still sending, so that it sees the answer it has been given meanwhile. */
import type { Due } from '../deadlines.ts'
import type { Exchange } from '../exchange.ts'
import type { Bytes, Milliseconds } from '../time.ts'

/** How much is taken in and thrown away: most clients read nothing before they have written everything. */
const DRAINED: Bytes = 64 * 1_048_576
/** How long. */
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
	const drain: Due = { due: app.deadlines.clock() + DRAIN_TIME, expire: stop }
	app.deadlines.add(drain)
	incoming.on('data', take).on('end', stop).on('close', stop).on('error', stop)
	incoming.resume()
}

function ignore(): void {}
