/**
 * Values that are kept with an object, under a symbol: they live as long as it does. So caches need no Maps in modules, but
 * for the one here, of objects that can't be extended.
 */

/** By object and symbol. */
const OF_FROZEN = new WeakMap<object, Map<symbol, unknown>>()

/** The value that is kept with `owner`, made when it is first asked for. */
export function attached<T>(owner: object, key: symbol, make: () => T): T {
	const known = attachment(owner, key)
	if (known !== undefined) return known as T // made by the same `make`
	const value = make()
	attach(owner, key, value)
	return value
}

/** The value that is kept with `owner`; `undefined` for none. */
export function attachment(owner: object, key: symbol): unknown {
	return Object.hasOwn(owner, key) ? Reflect.get(owner, key) : OF_FROZEN.get(owner)?.get(key)
}

export function attach(owner: object, key: symbol, value: unknown): void {
	if (Reflect.defineProperty(owner, key, { value, configurable: true })) return
	const values = OF_FROZEN.get(owner) ?? new Map<symbol, unknown>()
	OF_FROZEN.set(owner, values.set(key, value))
}
