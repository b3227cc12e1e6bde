/**
 * The methods of a handler's class, which of them are routes, and the actions that a handler adds itself: a `CrudHandler`
 * answers its own path and the ids below it. Read once, at mount, by `compile.ts`.
 */
import type { RouteMethod } from '../../base/http.ts'
import type { Shape } from '../../validate/schema/shape.ts'
import type { Validator } from '../../validate/validator.ts'

/** A method of a handler; `this` is the view. */
export type Method = (this: object, ...params: unknown[]) => unknown

/** A method whose name says what it answers. */
interface NamedRoute {
	readonly name: string
	readonly method: RouteMethod
	/** `undefined` for `_default`. */
	readonly resource: string | undefined
}

const PREFIX = /^(get|post|put|patch|delete|query)_(.+)$/s
const RESOURCE = /^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$/

/**
 * Methods on the prototypes between a handler and the base class, nearest subclass first. The walk stops
 * at `base`, so `constructor`, `toString` and the base class's own helpers can't be reached from a URL.
 *
 * @throws TypeError for a getter or a value with a route's name, and for a prefix with no resource behind
 */
export function methodsOf(handler: object, base: object): Map<string, Method> {
	const methods = new Map<string, Method>()
	for (let proto = prototypeOf(handler); proto !== null && proto !== base; proto = prototypeOf(proto)) {
		for (const [name, slot] of Object.entries(Object.getOwnPropertyDescriptors(proto))) {
			if (name === 'constructor' || methods.has(name)) continue
			if (typeof slot.value === 'function') methods.set(name, slot.value as Method)
			else if (PREFIX.test(name))
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
 * Refuses functions in fields that have a route's name: their `this` would be the shared handler.
 *
 * @param hooks names of which the same is true
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

/** What a method's name says it answers; `undefined` when it is no route. */
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

/** The resource names that a method answers: `blog_post` is served as `blog_post` and as `blog-post`. */
export function spellingsOf(resource: string): string[] {
	const dashed = resource.replaceAll('_', '-')
	return dashed === resource ? [resource] : [resource, dashed]
}

function prototypeOf(value: object): object | null {
	return Object.getPrototypeOf(value) as object | null
}

/** A field named like a helper of `prototypes` would hide it from every request. */
export function refuseShadows(owner: string, handler: object, prototypes: readonly object[]): void {
	for (const name of Object.keys(handler)) {
		if (prototypes.some((prototype) => Object.hasOwn(prototype, name))) {
			throw new TypeError(
				`${owner}.${name} is a field that hides this.${name} of RestHandler: give it another name`,
			)
		}
	}
}

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
interface BringsActions {
	[OWN_ACTIONS](validator: Validator | undefined): readonly OwnAction[]
}

/** Name of the method that is given what the handler's other methods answer or throw, before it is sent. */
export const OWN_ANSWERS: unique symbol = Symbol('verbena.ownAnswers')

/** Whoever has something to say of its answers. */
interface TellsAnswers {
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
