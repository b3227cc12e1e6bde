/** What tests of transactions share. */
import { ModelError } from '../../../lib/index.ts'

/** What a promise rejects with. @throws if it doesn't */
export async function rejected(promise: Promise<unknown>): Promise<unknown> {
	let value: unknown
	try {
		value = await promise
	} catch (error) {
		return error
	}
	throw new Error(`it was fulfilled with ${JSON.stringify(value)}`)
}

/** The ModelError that a promise rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<ModelError> {
	const error = await rejected(promise)
	if (error instanceof ModelError) return error
	throw error
}
