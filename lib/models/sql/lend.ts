/**
 * `lend`: gives the work of a transaction the connection of the user's own library, for SQL by hand. It can't be used after
 * the transaction: by then, the connection may be in another caller's. Used by `transaction.ts` and the driver of postgres.js.
 */

export interface Lending {
	/** Called before each call by hand. @throws TypeError if the transaction has ended */
	begin(): void
	/** Called with each error of a statement by hand. */
	failed?(error: unknown): void
}

/** Methods that only the transaction, or the pool, may call, by the libraries' names. */
const OWN: ReadonlySet<PropertyKey> = new Set([
	...['release', 'end', 'destroy', 'close', 'changeUser', 'reset'],
	...['beginTransaction', 'commit', 'rollback'],
])

export function transactionEnded(): TypeError {
	return new TypeError('this transaction has ended: await all operations in it')
}

/** A proxy of a connection that can be used until its transaction ends. */
export function lend(connection: object, lending: Lending): object {
	const methods = new Map<PropertyKey, unknown>()
	// One wrapper for each callback, so that `off` finds what `on` was given.
	const callbacks = new WeakMap<Method, Method>()
	const watched = (callback: Method): Method => {
		const known = callbacks.get(callback) ?? watchedCallback(callback, lending)
		callbacks.set(callback, known)
		return known
	}
	return new Proxy(connection, {
		get(target, name) {
			const value: unknown = Reflect.get(target, name)
			if (typeof value !== 'function' || name === 'constructor') return value
			let method = methods.get(name)
			if (method === undefined) {
				method = lentMethod(target, name, value as Method, lending, watched)
				methods.set(name, method)
			}
			return method
		},
		// A `sql` of postgres.js is a function.
		apply(target, _this, args: unknown[]) {
			lending.begin()
			return (target as Method)(...args)
		},
	})
}

type Method = (...args: unknown[]) => unknown

function lentMethod(
	target: object,
	name: PropertyKey,
	method: Method,
	lending: Lending,
	watched: (callback: Method) => Method,
): Method {
	return (...args) => {
		if (OWN.has(name))
			throw new TypeError(
				`${String(name)}() of a transaction's connection is left to the transaction, which ends when its work does`,
			)
		lending.begin()
		const last = args.at(-1)
		if (typeof last === 'function' && lending.failed !== undefined)
			args[args.length - 1] = watched(last as Method)
		const result = method.apply(target, args)
		if (result instanceof Promise) result.catch((error) => lending.failed?.(error))
		return result
	}
}

/** Wraps a callback that, as Node's do, takes an error first. */
function watchedCallback(callback: Method, { failed }: Lending): Method {
	const watching: Method = (...args) => {
		if (args[0] instanceof Error) failed?.(args[0])
		return callback(...args)
	}
	// SQLite's libraries derive the number of arguments of a function from it.
	return Object.defineProperty(watching, 'length', { value: callback.length })
}
