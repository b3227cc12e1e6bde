/** Copies of what a program says of its users, that no request can change for the next. */

/**
 * A copy of plain objects and lists, to their full depth, that is frozen; instances of classes in it, such as a Date, are
 * the same ones. It is made where users are declared: a request then needs a copy of the outermost object alone.
 */
export function frozenCopy<T>(value: T): T {
	return copyOf(value, new Map()) as T // A plain object's copy has its properties, a list's its items.
}

/** Whether an object is one of `{ … }`, or of `Object.create(null)` as rows of a database are. */
export function isPlain(value: unknown): value is object {
	if (typeof value !== 'object' || value === null) return false
	const prototype: unknown = Object.getPrototypeOf(value)
	return prototype === null || prototype === Object.prototype
}

/** `copies` are those made so far: what is in it twice stays so, and what holds itself comes to an end. */
function copyOf(value: unknown, copies: Map<object, object>): unknown {
	if (!Array.isArray(value) && !isPlain(value)) return value
	const known = copies.get(value)
	if (known !== undefined) return known
	const copy: object = Array.isArray(value) ? [] : {}
	copies.set(value, copy)
	for (const [name, held] of Object.entries(value)) {
		// Not by `=`: a name from JSON may be `__proto__`, which would set one.
		Object.defineProperty(copy, name, { value: copyOf(held, copies), enumerable: true })
	}
	return Object.freeze(copy)
}
