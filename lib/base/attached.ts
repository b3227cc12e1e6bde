/** Values that are kept with an object: they live as long as it does, and no module holds state. */

/** The value that is kept with `owner` under `key`, made when it is first asked for; each time, where `owner` is frozen. */
export function attached<T>(owner: object, key: symbol, make: () => T): T {
	if (Object.hasOwn(owner, key)) return Reflect.get(owner, key) as T // made by the same `make`
	const value = make()
	if (Object.isExtensible(owner)) Object.defineProperty(owner, key, { value, configurable: true })
	return value
}
