/**
 * Actions that a handler brings along, beside those that its methods' names declare: a `CrudHandler` answers
 * its own path and the ids below it. Asked once, at mount.
 */

import type { RouteMethod } from '../../base/http.ts'
import type { Shape } from '../../validate/schema/shape.ts'
import type { Validator } from '../../validate/validator.ts'
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

/** Name of the method that is given what the handler's other methods answer or throw, before it is sent. */
export const OWN_ANSWERS: unique symbol = Symbol('verbena.ownAnswers')

/** Whoever has something to say of its answers. */
export interface TellsAnswers {
	/** @param run calls the method */
	[OWN_ANSWERS](view: object, run: () => unknown): unknown
}

/** Makes of a method one whose answers its handler has a word in; most handlers have none, nor have actions brought along. */
export function answersOf(
	handler: object | TellsAnswers,
	brought: readonly OwnAction[],
): (run: Method) => Method {
	if (!(OWN_ANSWERS in handler)) return (run) => run
	const own = new Set(brought.map(({ run }) => run))
	const answering = (run: Method): Method =>
		function answered(this: object, ...params: unknown[]): unknown {
			return handler[OWN_ANSWERS](this, () => run.apply(this, params))
		}
	return (run) => (own.has(run) ? run : answering(run))
}

/** The actions that a handler brings along; none of most. */
export function ownActionsOf(
	handler: object | BringsActions,
	validator: Validator | undefined,
): readonly OwnAction[] {
	return OWN_ACTIONS in handler ? handler[OWN_ACTIONS](validator) : []
}
