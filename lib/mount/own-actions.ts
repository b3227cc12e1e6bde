/**
 * Actions that a handler brings along, beside those that its methods' names declare: a `CrudHandler` answers
 * its own path and the ids below it. Asked once, at mount.
 */
import type { Shape } from '../describe/shape.ts'
import type { RouteMethod } from '../http.ts'
import type { Validator } from '../validate/validator.ts'
import type { Method } from './methods.ts'

/** Name of the method that is asked for them. */
export const OWN_ACTIONS: unique symbol = Symbol('verbena.ownActions')

/** An action for paths of a certain length. */
export interface OwnAction {
	/** The key by which `access` and the log call it. */
	readonly name: string
	readonly methods: readonly RouteMethod[]
	/** How many segments the path has behind the handler path. */
	readonly segments: number
	readonly run: Method
	/** What it takes and answers; asked when somebody wants a description. */
	readonly shape?: (() => Shape) | undefined
}

/** Whoever brings actions along. `validator` is the server's, `undefined` for ours. */
export interface BringsActions {
	[OWN_ACTIONS](validator: Validator | undefined): readonly OwnAction[]
}

/** The actions that a handler brings along; none of most. */
export function ownActionsOf(
	handler: object | BringsActions,
	validator: Validator | undefined,
): readonly OwnAction[] {
	return OWN_ACTIONS in handler ? handler[OWN_ACTIONS](validator) : []
}
