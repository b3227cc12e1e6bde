/** What `work` returns; `undefined` if it throws. */
export function attempt<T>(work: () => T): T | undefined {
	try {
		return work()
	} catch {
		return undefined
	}
}
