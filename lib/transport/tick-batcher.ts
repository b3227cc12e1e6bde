/**
 * `TickBatcher`: whether a request is answered at once, or together with the others of its turn of the event loop. Between
 * two requests the kernel reads a socket, writes another, and evicts our code from the processor's caches; answered one
 * behind the other they cost a third less. A request that is alone would only wait for the turn to end.
 */

/** A request in so many that are answered at once is deferred, to see whether others come with it. */
const PROBE = 32

/** Counts the requests of each turn. */
export class TickBatcher<Request = unknown> {
	/** The requests of this turn that wait for its end. */
	readonly deferred: Request[] = []
	/** Whether the last turn that was looked at had more than one. */
	#busy = false
	#alone = 0

	/** Whether a request that has come now is to be deferred; then `end` is called when it is served. */
	defers(request: Request): boolean {
		if (!this.#busy && ++this.#alone < PROBE) return false
		this.deferred.push(request)
		return true
	}

	/** The turn in which requests were deferred has ended. Called for each of them; the first call counts. */
	end(): void {
		if (this.deferred.length === 0) return
		this.#busy = this.deferred.length > 1
		this.deferred.length = 0
		this.#alone = 0
	}
}
