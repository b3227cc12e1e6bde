/** Counts streams that haven't ended. If a client leaves and its stream isn't closed, the count stays above 0. */
export class OpenStreams {
	#count = 0

	get count(): number {
		return this.#count
	}

	/** Call it when a stream begins, and the returned function when it ends, even by an error. */
	begin(): () => void {
		this.#count++
		return () => {
			this.#count--
		}
	}
}
