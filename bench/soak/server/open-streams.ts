/** Counts methods that stream and haven't ended: one that a client has left must be told so, or it is held for ever. */
export class OpenStreams {
	#count = 0

	get count(): number {
		return this.#count
	}

	/** Called when a method begins; what it answers is called when it ends, however. */
	begin(): () => void {
		this.#count++
		return () => {
			this.#count--
		}
	}
}
