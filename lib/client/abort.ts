/** `unlessAborted`: a wait that a signal ends, whatever becomes of what is waited for. */

/**
 * What comes of work, unless the signal ends the wait for it.
 *
 * @throws what the work throws; the signal's reason
 */
export function unlessAborted<T>(work: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
	return new Promise((resolve, reject) => {
		const end = () => reject(signal?.reason)
		// It may have been while the work began; an abort that has been is not told again.
		if (signal?.aborted === true) end()
		else signal?.addEventListener('abort', end, { once: true })
		Promise.resolve(work)
			.then(resolve, reject)
			.finally(() => signal?.removeEventListener('abort', end))
	})
}
