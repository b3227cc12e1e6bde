/** Tells promises, and what is like them, from values: what isn't one is never waited for. */

export function isThenable(value: unknown): value is PromiseLike<unknown> {
	return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
