/**
 * Finds the methods of a handler's class, the routes among them, and built-in actions (those with which a `CrudHandler`
 * serves its own path and the ids below it). Called by `compile.ts` when a handler is mounted.
 */
import type { RouteMethod } from '../../base/http.ts'
import type { Action, StreamingLimits } from '../../exchange/action.ts'
import type { Shape } from '../../validate/schema/shape.ts'
import type { Guards } from './declarations.ts'

/** A method of a handler; `this` is the view. */
export type Method = (this: object, ...params: unknown[]) => unknown

interface NamedRoute {
	readonly name: string
	readonly method: RouteMethod
	/** `undefined` for `_default`. */
	readonly resource: string | undefined
}

const PREFIX = /^(get|post|put|patch|delete|query)_(.+)$/s
const RESOURCE = /^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$/

/**
 * The methods of a handler's classes below `base`, so that `constructor`, `toString` and the base class's own methods can't
 * be reached from a URL.
 *
 * @param hooks more names that must be methods
 * @throws TypeError for a getter or a value with a route's name
 */
export function methodsOf(handler: object, base: object, hooks: readonly string[] = []): Map<string, Method> {
	const methods = new Map<string, Method>()
	for (const proto of prototypesOf(handler, base)) {
		for (const [name, slot] of Object.entries(Object.getOwnPropertyDescriptors(proto))) {
			if (name === 'constructor' || methods.has(name)) continue
			if (typeof slot.value === 'function') methods.set(name, slot.value as Method)
			else if (PREFIX.test(name) || hooks.includes(name))
				throw new TypeError(`${handler.constructor.name}.${name} must be a method, found ${kindOf(slot)}`)
		}
	}
	return methods
}

function kindOf(slot: PropertyDescriptor): string {
	if (slot.get !== undefined) return 'a getter'
	return slot.set === undefined ? typeof slot.value : 'a setter'
}

/**
 * Refuses fields that have a route's name and hold a function: its `this` would be the shared handler.
 *
 * @param hooks more names to refuse
 * @throws TypeError
 */
export function refuseFunctionFields(handler: object, hooks: readonly string[] = []): void {
	for (const [name, slot] of Object.entries(Object.getOwnPropertyDescriptors(handler))) {
		if (typeof slot.value === 'function' && (PREFIX.test(name) || hooks.includes(name))) {
			throw new TypeError(
				`${handler.constructor.name}.${name} is a function held in a field, whose \`this\` would be the shared handler and not the request's view: write a method, ${name}(…) { … }`,
			)
		}
	}
}

/** The route that a method's name declares; `undefined` if the name has no prefix such as `get_`. */
export function routeOf(owner: string, name: string): NamedRoute | undefined {
	const match = PREFIX.exec(name)
	if (match === null) return undefined
	const [, prefix = '', rest = ''] = match
	const method = prefix.toUpperCase() as RouteMethod
	if (rest === '_default') return { name, method, resource: undefined }
	if (RESOURCE.test(rest)) return { name, method, resource: rest }
	throw new TypeError(
		`${owner}.${name} begins like a route, but ${JSON.stringify(rest)} can't be a resource: use letters, digits, _ and -, beginning and ending with a letter or digit; a helper is best named in camelCase`,
	)
}

/** The spellings of a resource: `blog_post` is also served as `blog-post`. */
export function spellingsOf(resource: string): string[] {
	const dashed = resource.replaceAll('_', '-')
	return dashed === resource ? [resource] : [resource, dashed]
}

/** The prototypes of a handler's classes below `base`, nearest subclass first. */
export function prototypesOf(handler: object, base: object): object[] {
	const proto = Object.getPrototypeOf(handler) as object | null
	return proto === null || proto === base ? [] : [proto, ...prototypesOf(proto, base)]
}

/** Refuses a field that would hide a member of `prototypes` from every request. */
export function refuseShadows(owner: string, handler: object, prototypes: readonly object[]): void {
	for (const name of Object.keys(handler)) {
		if (prototypes.some((prototype) => Object.hasOwn(prototype, name))) {
			throw new TypeError(
				`${owner}.${name} is a field that hides this.${name} of RestHandler: give it another name`,
			)
		}
	}
}

/** The method that returns a handler's built-in actions. */
export const OWN_ACTIONS: unique symbol = Symbol('verbena.ownActions')

/** A built-in action, for paths with a fixed number of segments. */
export interface OwnAction {
	/** Its name in `access` and the log. */
	readonly name: string
	readonly methods: readonly RouteMethod[]
	/** Number of segments after the handler path. */
	readonly segments: number
	/** What the second segment must be; `undefined` for anything. */
	readonly second?: string | undefined
	/** What the only segment must be; matched before ids, as a method's resource is. @default anything */
	readonly resource?: string | undefined
	readonly run: Method
	/** Checks what a request asks for, by its head alone: see `Action`. */
	readonly authorize?: Action['authorize']
	/** The action whose access rule applies, unless `access` names this action. */
	readonly accessOf?: string | undefined
	/** The action whose rate limit it shares, if it has none of its own. */
	readonly limitOf?: string
	/** The media types of a PATCH: see `Action`. */
	readonly acceptPatch?: string | undefined
	/** Whether it takes an `Idempotency-Key`, as POST and PATCH do anyway. */
	readonly takesKey?: boolean | undefined
	/** Set if it reads its body as a stream: its limits, unless the handler declares others. */
	readonly streaming?: StreamingLimits | undefined
	/** Names that `access` may have besides the action's own. */
	readonly accessNames?: readonly string[] | undefined
	/** Whether the handler's own code decides who may call it, or on what, so that it needs no rule in `access`. */
	readonly isDecided?: boolean
	/** Its parameters, body and replies, for descriptions. */
	readonly shape?: (() => Shape) | undefined
}

/** A handler with built-in actions. `guards` are the server's, `path` is where the handler is mounted. */
interface HasOwnActions {
	[OWN_ACTIONS](guards: Guards, path: readonly string[]): readonly OwnAction[]
}

/** The method that wraps calls of a handler's methods, and can change what they return or throw. */
export const OWN_ANSWERS: unique symbol = Symbol('verbena.ownAnswers')

/** The method that changes the bodies of a handler's errors: see `MountFacts`. */
export const ERROR_BODY: unique symbol = Symbol('verbena.errorBody')

interface WrapsMethods {
	[OWN_ANSWERS](view: object, run: () => unknown): unknown
}

/** A function that wraps methods in the handler's `OWN_ANSWERS`, if it has one, except built-in actions. */
export function methodWrapper(
	handler: object | WrapsMethods,
	builtIn: readonly OwnAction[],
): (run: Method) => Method {
	if (!(OWN_ANSWERS in handler)) return (run) => run
	const unwrapped = new Set(builtIn.map(({ run }) => run))
	const wrap = (run: Method): Method =>
		function wrapped(this: object, ...params: unknown[]): unknown {
			return handler[OWN_ANSWERS](this, () => run.apply(this, params))
		}
	return (run) => (unwrapped.has(run) ? run : wrap(run))
}

export function ownActionsOf(
	handler: object | HasOwnActions,
	guards: Guards,
	path: readonly string[],
): readonly OwnAction[] {
	return OWN_ACTIONS in handler ? handler[OWN_ACTIONS](guards, path) : []
}
