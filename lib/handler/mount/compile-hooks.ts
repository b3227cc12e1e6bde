/** The hooks of a mount: the handler's overrides, and the server's options. For `compile.ts`. */
import type { Hook, Hooks } from '../../exchange/exchange.ts'
import { type BeforeAnswer, type ErrorAnswer, HandlerHooks, type RestHandler } from '../handler.ts'

/** The hooks of a server: called for every handler, with the request's view. */
export interface ServerHooks {
	readonly before?:
		| ((view: RestHandler) => BeforeAnswer | void | Promise<BeforeAnswer> | Promise<void>)
		| undefined
	readonly after?: ((view: RestHandler, value: unknown) => unknown) | undefined
	readonly onError?:
		| ((view: RestHandler, error: unknown) => ErrorAnswer | void | Promise<ErrorAnswer> | Promise<void>)
		| undefined
}

/** Methods of the user's class that aren't routes. */
export const HOOKS = ['init', 'dispose', 'before', 'after', 'onError'] as const
const REQUEST_HOOKS = ['before', 'after', 'onError'] as const

/**
 * The hooks in the order of their calls. The server's `before` is called first, its `after` and `onError` last.
 *
 * @returns `undefined` if there are none, so that requests pay nothing
 */
export function hooksOf(owner: string, handler: RestHandler, server: ServerHooks): Hooks | undefined {
	const { before, after, onError } = server
	const hooks: Hooks = {
		before: [...serverHook('before', before), ...handlerHook(owner, 'before', handler)],
		after: [...handlerHook(owner, 'after', handler), ...serverHook('after', after)],
		onError: [...handlerHook(owner, 'onError', handler), ...serverHook('onError', onError)],
	}
	return REQUEST_HOOKS.some((name) => hooks[name].length > 0) ? hooks : undefined
}

function handlerHook(owner: string, name: (typeof REQUEST_HOOKS)[number], handler: RestHandler): Hook[] {
	const method: (this: object, given: unknown) => unknown = handler[name]
	if (method === HandlerHooks.prototype[name]) return []
	return [{ name: `${owner}.${name}()`, run: (view, given) => method.call(view, given) }]
}

function serverHook(name: string, run: ((view: RestHandler, given: unknown) => unknown) | undefined): Hook[] {
	// Views inherit from their handler.
	return run === undefined
		? []
		: [{ name: `the option ${name}`, run: (view, given) => run(view as RestHandler, given) }]
}
