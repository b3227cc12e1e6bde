/** Objects as they are written by literals, which is how everything is declared. */

/**
 * The entries of a declaration. A Map, a Set, an array or an object with another prototype has none of
 * its own, and would declare nothing in silence: access rules that nobody enforces.
 *
 * @throws TypeError
 */
export function entriesOf(what: string, declared: unknown, example: string): [string, unknown][] {
	const prototype: unknown =
		typeof declared === 'object' && declared !== null ? Object.getPrototypeOf(declared) : undefined
	if (prototype !== Object.prototype && prototype !== null)
		throw new TypeError(
			`${what} must be a plain object: ${example}${declared instanceof Promise ? ', got a promise: write await before it' : ''}`,
		)
	return Object.entries(declared as object)
}
