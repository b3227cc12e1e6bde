/** Tells promises, and promises of other libraries, from values, which are never awaited. */

export function isThenable(value: unknown): value is PromiseLike<unknown> {
	return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
