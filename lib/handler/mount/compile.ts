/** Compiles a handler for its mount; `declarations.ts` checks its declarations. Called by `controller.ts`. */
import type { Acl, Authenticator } from '../../auth/authenticator.ts'
import { ROUTE_METHODS, type RouteMethod, takesBody } from '../../base/http.ts'
import { entriesOf, nearest, oneOf, type Reader, withMethods } from '../../base/options.ts'
import type { Action } from '../../exchange/action.ts'
import { headerLine } from '../../reply/headers.ts'
import { RouteTable } from '../../routing/custom/custom-routes.ts'
import type { RouteKey } from '../../routing/custom/pattern.ts'
import {
	customPath,
	type EndpointPath,
	type MountedEndpoint,
	ownPath,
	type ParamName,
	resourcePaths,
} from '../../routing/endpoints.ts'
import { type CustomRoute, LookupTable, type Mount } from '../../routing/routing.ts'
import { SpecMemo } from '../../validate/validate.ts'
import { HandlerHooks, RestHandler } from '../handler.ts'
import { HOOKS, hooksOf, type ServerHooks } from './compile-hooks.ts'
import { type Declared, declaredBy, type Guards } from './declarations.ts'
import {
	type Method,
	methodsOf,
	methodWrapper,
	OWN_ACTIONS,
	type OwnAction,
	ownActionsOf,
	refuseFunctionFields,
	refuseShadows,
	routeOf,
	spellingsOf,
} from './methods.ts'
import { maxParamsOf, paramNamesOf } from './params.ts'
import { type NearMiss, nearMissesOf, noRoute, openActions } from './warnings.ts'

/** The parameters of built-in actions. */
const ID: readonly ParamName[] = [{ name: 'id', isOptional: false, isRest: false }]

/** What a mount has of its handler's methods and declarations. */
type MountParts = Pick<
	Mount,
	'name' | 'label' | 'table' | 'routes' | 'authenticator' | 'acl' | 'idempotencyKeys' | 'hooks'
>

interface CompiledHandler {
	readonly parts: MountParts
	/** Methods that look like routes but aren't. */
	readonly nearMisses: readonly NearMiss[]
	/** Built-in actions that change something and are open to anyone, although there is an authenticator. */
	readonly openActions: readonly string[]
	/** Built-in actions, then methods, then custom routes; computed once. */
	readonly endpoints: () => readonly MountedEndpoint[]
}

/**
 * Compiles a handler's methods and declarations.
 *
 * @param path the segments of the path it is mounted at
 * @throws TypeError for a wrong declaration, naming it as the user typed it
 */
export function compileHandler(
	handler: RestHandler,
	guards: Guards & ServerHooks,
	path: readonly string[],
): CompiledHandler {
	const place = path.join('/')
	const name = handler.constructor.name || 'the handler'
	refuseFunctionFields(handler, HOOKS)
	refuseShadows(name, handler, [RestHandler.prototype, HandlerHooks.prototype])
	const ownGuards = guardsOf(name, handler, guards)
	const methods = methodsOf(handler, RestHandler.prototype, HOOKS)
	const hooks = hooksOf(name, handler, guards)
	for (const hook of HOOKS) methods.delete(hook)
	const namedRoutes = [...methods.keys()].flatMap((method) => routeOf(name, method) ?? [])
	const targets = customTargets(name, handler, methods)
	const builtIn = ownActionsOf(handler, guards, path)
	const nearMisses = nearMissesOf(handler, RestHandler.prototype, targets.values())
	if (namedRoutes.length + builtIn.length + targets.size === 0)
		throw noRoute(name, nearMisses, OWN_ACTIONS in handler)
	// A custom route to `list` leads to the action `list`, not directly to the method `list()`.
	for (const { name: action, run } of builtIn) methods.set(action, run)
	const names = [...namedRoutes, ...builtIn].map((route) => route.name)
	const accessNames = builtIn.flatMap((own) => own.accessNames ?? [])
	const routed = new Set([...names, ...targets.values()])
	const declared = declaredBy(name, handler, routed, ownGuards, place, accessNames)
	const action = actionFactory(methods, methodWrapper(handler, builtIn), declared, builtIn)
	// Read from the original method: an action's function may be a wrapper.
	const namesOf = (target: string) => paramNamesOf(methods.get(target) ?? action(target).run)
	const table = new LookupTable()
	for (const { name: method, method: verb, resource } of namedRoutes) {
		for (const spelling of resource === undefined ? [undefined] : spellingsOf(resource)) {
			const other = table.get(verb, spelling)
			if (other !== undefined)
				throw new TypeError(
					`${name}.${method} and ${name}.${other.name} both answer ${verb} ${spelling ?? '_default'}: remove one`,
				)
			table.add(verb, spelling, action(method))
		}
	}
	const entries: EndpointEntry[] = []
	for (const own of builtIn) {
		addOwn(name, table, own, action(own.name))
		for (const method of own.methods)
			entries.push({
				method,
				target: own.name,
				shape: own.shape,
				paths: () => [ownPath(own.segments, own.second, own.resource)],
			})
	}
	for (const { name: target, method, resource } of namedRoutes)
		entries.push({ method, target, paths: () => resourcePaths(resource, namesOf(target)) })
	const routes = new RouteTable<CustomRoute>()
	for (const [key, target] of targets) {
		const { methods: verbs, text } = addRoute(name, routes, { key, action: action(target) })
		const own = builtIn.find(({ name }) => name === target)
		// Built-in actions are functions of the library, whose parameter names mean nothing to users.
		const paths = () => [customPath(text, own === undefined ? namesOf(target) : ID)]
		for (const method of verbs) entries.push({ method, target, shape: own?.shape, paths, key })
	}
	refuseBodiless(name, declared, entries)
	const { authenticator, acl } = ownGuards
	const idempotencyKeys = oneOf('user', 'anyone', 'off')(`${name}.idempotencyKeys`, handler.idempotencyKeys)
	return {
		parts: {
			...{ name, label: labelOf(handler, place), table, routes: routes.size === 0 ? undefined : routes },
			...{ authenticator, acl, idempotencyKeys, hooks },
		},
		nearMisses,
		// A `before` hook may check access, too.
		openActions:
			authenticator === undefined || (hooks?.before.length ?? 0) > 0 ? [] : openActions(handler, builtIn),
		endpoints: lazyEndpoints(entries, action),
	}
}

/** The handler's name in logs: its class; or its path, if the class is `CrudHandler` itself, which many tables share. */
function labelOf(handler: RestHandler, place: string): string {
	const { name } = handler.constructor
	const isOwn = !Object.hasOwn(Object.getPrototypeOf(handler), OWN_ACTIONS)
	return name !== '' && isOwn ? name : place || '/'
}

/** An endpoint whose paths aren't computed yet: computing them is slow, and only descriptions need them. */
interface EndpointEntry extends Partial<Pick<MountedEndpoint, 'shape' | 'key'>> {
	readonly method: RouteMethod
	readonly target: string
	readonly paths: () => readonly EndpointPath[]
}

function lazyEndpoints(
	entries: readonly EndpointEntry[],
	action: (name: string) => Action,
): () => readonly MountedEndpoint[] {
	let endpoints: readonly MountedEndpoint[] | undefined
	return () => {
		endpoints ??= entries.flatMap(({ method, target, shape, key, paths }) =>
			paths().map((path) => ({
				...{ ...path, method, action: action(target), shape },
				...(key === undefined ? {} : { key }),
			})),
		)
		return endpoints
	}
}

/** The handler's authenticator and acl, or else the server's, which have been checked as options. */
function guardsOf(owner: string, { authenticator, acl }: RestHandler, guards: Guards): Guards {
	return {
		...guards,
		authenticator:
			authenticator == null ? guards.authenticator : authenticatorIn(`${owner}.authenticator`, authenticator),
		acl: acl == null ? guards.acl : aclIn(`${owner}.acl`, acl),
	}
}

export const aclIn: Reader<Acl> = withMethods('allows')

const hasAuthenticate = withMethods<Authenticator>('authenticate')

export function authenticatorIn(where: string, value: unknown): Authenticator {
	const authenticator = hasAuthenticate(where, value)
	if (authenticator.challenge !== undefined) checkChallenge(`${where}.challenge`, authenticator.challenge)
	return authenticator
}

/** Checked at mount: a challenge with invalid headers would turn every 401 into a 500. */
function checkChallenge(what: string, challenge: unknown): void {
	const names = entriesOf(what, challenge, "{ 'WWW-Authenticate': 'Bearer' }").map(([name, value]) => {
		// `headerLine` refuses other types.
		headerLine(name, value as string)
		return name.toLowerCase()
	})
	if (!names.includes('www-authenticate')) {
		throw new TypeError(`${what} must include WWW-Authenticate, which every 401 must have (RFC 9110 §15.5.2)`)
	}
}

/** A function that creates the action of a method, one for all its routes. */
function actionFactory(
	methods: ReadonlyMap<string, Method>,
	wrap: (run: Method) => Method,
	declared: Declared,
	builtIn: readonly OwnAction[],
): (name: string) => Action {
	const actions = new Map<string, Action>()
	const ownActions = new Map(builtIn.map((own) => [own.name, own]))
	return (name) => {
		const run = methods.get(name)
		if (run === undefined) throw new TypeError(`there is no method ${name}`)
		let action = actions.get(name)
		if (action === undefined) {
			action = {
				name,
				run: wrap(run),
				maxParams: maxParamsOf(run),
				access: declared.access(name, ownActions.get(name)?.accessOf),
				authorize: ownActions.get(name)?.authorize,
				acceptPatch: ownActions.get(name)?.acceptPatch,
				takesKey: ownActions.get(name)?.takesKey,
				limit: declared.limit(name, ownActions.get(name)?.limitOf),
				spec: declared.spec(name),
				docs: declared.docs(name),
				streaming: declared.streaming(name) ?? ownActions.get(name)?.streaming,
				memo: new SpecMemo(),
				steps: {},
			}
			actions.set(name, action)
		}
		return action
	}
}

/** The method of each custom route. It must be a method of the user's own classes. */
function customTargets(
	owner: string,
	handler: RestHandler,
	methods: ReadonlyMap<string, Method>,
): Map<string, string> {
	const targets = new Map<string, string>()
	const routes = entriesOf(`${owner}.customRoutes`, handler.customRoutes, "{ 'GET custom/%s': 'page' }")
	for (const [key, target] of routes) {
		const where = `${owner}.customRoutes[${JSON.stringify(key)}]`
		if (typeof target !== 'string')
			throw new TypeError(`${where} must name a method of ${owner}, found a ${typeof target}`)
		if (!methods.has(target)) {
			const hook = HOOKS.find((one) => one === target)
			if (hook !== undefined)
				throw new TypeError(`${where}: ${hook}() is a hook, which is called around methods: name a method`)
			throw new TypeError(
				`${where}: ${JSON.stringify(target)} is not a method of ${owner}${nearest(target, methods.keys())}`,
			)
		}
		targets.set(key, target)
	}
	return targets
}

function addOwn(owner: string, table: LookupTable, own: OwnAction, action: Action): void {
	for (const method of own.methods) {
		const other = table.get(method, own.resource)
		if (other !== undefined)
			throw new TypeError(
				`${owner}.${other.name} would serve the same requests as ${own.name}: override ${own.name}(), or name a resource, ${method.toLowerCase()}_something`,
			)
		if (own.resource === undefined) table.addSized(method, own.segments, action, own.second)
		else table.add(method, own.resource, action)
	}
}

function addRoute(owner: string, routes: RouteTable<CustomRoute>, route: CustomRoute): RouteKey {
	try {
		return routes.add(route.key, route)
	} catch (error) {
		throw new TypeError(`${owner}.${error instanceof Error ? error.message : String(error)}`, {
			cause: error,
		})
	}
}

/** Refuses a streaming method if none of its endpoints has a body. */
function refuseBodiless(owner: string, declared: Declared, entries: readonly EndpointEntry[]): void {
	const withBody = new Set(entries.flatMap(({ target, method }) => (takesBody(method) ? [target] : [])))
	for (const { target, method } of entries) {
		if (declared.streaming(target) === undefined || withBody.has(target)) continue
		const bodies = ROUTE_METHODS.filter(takesBody).join(', ')
		throw new TypeError(
			`${owner}.streaming names ${target}, which answers only ${method}, and the body of a ${method} is never read: take ${target} out of streaming, or let it answer one of ${bodies}`,
		)
	}
}
