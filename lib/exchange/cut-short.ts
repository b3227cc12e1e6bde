/** Why a request ends before its answer: what `request.signal` is aborted with. */
import { RestError } from '../base/error.ts'

export function gone(): DOMException {
	return new DOMException('The client is gone', 'AbortError')
}

export function tooLate(): RestError {
	return new RestError('unavailable', 'The answer took too long')
}
