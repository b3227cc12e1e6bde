/** The RestError that a decoder throws. Any other error, or none, fails the test. */
import { isRestError, type RestError } from '../../../lib/base/error.ts'
import { cost } from '../../helpers/cost.ts'

export function refusal(decode: () => unknown): RestError {
	let error: unknown
	try {
		decode()
	} catch (thrown) {
		error = thrown
	}
	if (isRestError(error)) return error
	throw new Error('expected a RestError', { cause: error })
}

/** `400 message`, for tables. */
export function refusalText(decode: () => unknown): string {
	const { status, message } = refusal(decode)
	return `${status} ${message}`
}

/** The value, or `undefined` where a RestError of the client's making was thrown: nothing else may be. */
export function valueOrRefusal<T>(decode: () => T): T | undefined {
	try {
		return decode()
	} catch (error) {
		if (isRestError(error) && error.status >= 400 && error.status < 500) return undefined
		throw error
	}
}

/** To see that a linear decoder has not become quadratic: bounds are far above what a slow machine needs. */
export const milliseconds: typeof cost = cost
