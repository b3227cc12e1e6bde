/** The hooks of a mount: those that a handler's class overrides, and the server's. For `compile.ts`. */
import type { Hook, Hooks } from '../../exchange/exchange.ts'
import { type BeforeAnswer, type ErrorAnswer, HandlerHooks, RestHandler } from '../handler.ts'

/** The hooks of a server: called for every handler, with its view. */
export interface ServerHooks {
	readonly before?:
		| ((view: RestHandler) => BeforeAnswer | void | Promise<BeforeAnswer> | Promise<void>)
		| undefined
	readonly after?: ((view: RestHandler, value: unknown) => unknown) | undefined
	readonly onError?:
		| ((view: RestHandler, error: unknown) => ErrorAnswer | void | Promise<ErrorAnswer> | Promise<void>)
		| undefined
}

/** Methods of the user's class that are no routes. */
export const HOOKS = ['init', 'dispose', 'before', 'after', 'onError'] as const
const OPTIONS = ['before', 'after', 'onError'] as const

/**
 * The server's hooks are around the handler's: its `before` comes first, its `after` and `onError` last.
 *
 * @returns `undefined` where there are none, so that they cost nothing
 * @throws TypeError for a hook that is no method
 */
export function hooksOf(owner: string, handler: RestHandler, server: ServerHooks): Hooks | undefined {
	for (const name of HOOKS) refuseOther(owner, name, handler)
	const { before, after, onError } = server
	const hooks: Hooks = {
		before: [...option('before', before && ((view) => before(view))), ...own(owner, 'before', handler)],
		after: [
			...own(owner, 'after', handler),
			...option('after', after && ((view, value) => after(view, value))),
		],
		onError: [
			...own(owner, 'onError', handler),
			...option('onError', onError && ((view, error) => onError(view, error))),
		],
	}
	return OPTIONS.some((name) => hooks[name].length > 0) ? hooks : undefined
}

function own(owner: string, name: (typeof OPTIONS)[number], handler: RestHandler): Hook[] {
	const method: (this: object, given: unknown) => unknown = handler[name]
	if (method === HandlerHooks.prototype[name]) return []
	return [{ name: `${owner}.${name}()`, run: (view, given) => method.call(view, given) }]
}

function option(name: string, run: ((view: RestHandler, given: unknown) => unknown) | undefined): Hook[] {
	// A mount's views have its handler as their prototype.
	return run === undefined
		? []
		: [{ name: `the option ${name}`, run: (view, given) => run(view as RestHandler, given) }]
}

/** Refuses a getter, or a value on a prototype. Fields were refused before. */
function refuseOther(owner: string, name: (typeof HOOKS)[number], handler: object): void {
	for (let proto = handler; proto !== RestHandler.prototype; proto = Object.getPrototypeOf(proto) as object) {
		const slot = Object.getOwnPropertyDescriptor(proto, name)
		if (slot !== undefined && typeof slot.value !== 'function')
			throw new TypeError(
				`${owner}.${name} must be a method, found ${slot.get === undefined ? typeof slot.value : 'a getter'}`,
			)
	}
}
