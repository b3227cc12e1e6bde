/** What is kept for the headers and for speed: where it can't be, the count holds all the same. */

/** Does what a limit can do without. */
export async function inform(work: () => void | Promise<void>): Promise<void> {
	try {
		await work()
	} catch {}
}
