/**
 * Values stored on an object, under a symbol: they live as long as the object. So caches need no Map at module level,
 * except the one here, for objects that can't be extended.
 */

/** Values of objects that can't be extended, by symbol. */
const OF_FROZEN = new WeakMap<object, Map<symbol, unknown>>()

/** The value attached to `owner`, created on first use. */
export function attached<T>(owner: object, key: symbol, make: () => T): T {
	const existing = attachment(owner, key)
	if (existing !== undefined) return existing as T // made by the same `make`
	const value = make()
	attach(owner, key, value)
	return value
}

export function attachment(owner: object, key: symbol): unknown {
	return Object.hasOwn(owner, key) ? Reflect.get(owner, key) : OF_FROZEN.get(owner)?.get(key)
}

export function attach(owner: object, key: symbol, value: unknown): void {
	if (Reflect.defineProperty(owner, key, { value, configurable: true })) return
	const values = OF_FROZEN.get(owner) ?? new Map<symbol, unknown>()
	OF_FROZEN.set(owner, values.set(key, value))
}
