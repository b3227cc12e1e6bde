/** The error that a promise is rejected with, for tests of refusals. */
import * as assert from 'uvu/assert'

export async function rejection(work: Promise<unknown>): Promise<Error> {
	const error: unknown = await work.then(
		() => undefined,
		(reason: unknown) => reason,
	)
	assert.instance(error, Error)
	return error as Error // The line above has seen to it.
}
