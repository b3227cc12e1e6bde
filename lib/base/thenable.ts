/** Recognizes promises, also of other libraries: plain values are never awaited. */

export function isThenable(value: unknown): value is PromiseLike<unknown> {
	return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
