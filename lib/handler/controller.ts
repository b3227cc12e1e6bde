/**
 * `Controller`: mounts handlers at paths, and runs their `init` before the first request. Created by `server/`; `mount/`
 * checks and compiles the handlers, and `routing/` finds the mounts.
 */
import { flag } from '../base/options.ts'
import type { App } from '../exchange/app.ts'
import { routesOf } from '../routing/endpoints.ts'
import { type Mount, type MountTree, parsePath } from '../routing/routing.ts'
import { type Disposals, disposes } from './disposals.ts'
import { type HandlerController, type Mountable, RestHandler } from './handler.ts'
import { compileHandler } from './mount/compile.ts'
import type { ServerHooks } from './mount/compile-hooks.ts'
import type { Guards } from './mount/declarations.ts'
import { deprecationOf } from './mount/deprecated.ts'
import { ERROR_BODY } from './mount/methods.ts'
import { droppedStar, type NearMiss, nearMissText, openText } from './mount/warnings.ts'
import { becomeView, onePerRequest, viewConstructor } from './view.ts'

const INIT: unique symbol = Symbol('verbena.init')

/** Called for each handler that is mounted. */
export interface MountObserver {
	/** Its own page; `check` throws a TypeError for a handler that can't be mounted at a path, as it was typed. */
	readonly page: { check(typed: string, mount: Mount): void }
	mounted(handler: RestHandler): void
}

interface ControllerOptions extends Guards, ServerHooks {
	readonly disposals?: Disposals | undefined
	readonly observers?: readonly MountObserver[]
}

/** Mounts handlers at paths; `server.controller`, and `this.controller` in a handler. */
export class Controller implements HandlerController {
	readonly #app: App
	readonly #mounts: MountTree
	readonly #base: readonly string[]
	readonly #options: ControllerOptions
	/** Mounts whose `init` is running or has failed. */
	readonly #pending = new Set<Mount>()
	readonly #warned = new WeakSet<object>()

	/** @param base the path before every handler path */
	constructor(app: App, mounts: MountTree, base: string, options: ControllerOptions) {
		this.#app = app
		this.#mounts = mounts
		this.#base = parsePath('base', base)
		this.#options = options
	}

	/**
	 * Mounts a handler: an instance; a class, which is constructed once; or a factory, which is called for every request,
	 * and once here to read its routes.
	 *
	 *     controller.service('blog/api', new Blog())
	 *
	 * @throws TypeError for an invalid path or declaration, which the message names as it was typed
	 */
	service(path: string, handler: Mountable): void {
		const segments = [...this.#base, ...parsePath('the handler path', path)]
		const factory =
			typeof handler === 'function' && !isHandlerClass(handler) ? (handler as () => RestHandler) : undefined
		// A class that isn't a handler would pass for a factory: only the function's source text tells them apart.
		if (factory !== undefined && /^class\b/.test(Function.prototype.toString.call(factory)))
			throw wrongKind(path, `the class ${factory.name}, which doesn't extend RestHandler`)
		const instance = instanceOf(path, handler)
		if (instance.init !== RestHandler.prototype.init && Object.isFrozen(instance) && !(INIT in instance)) {
			throw new TypeError(
				`${instance.constructor.name} is frozen already, so its init() could not set it up: mount it before freezing it`,
			)
		}
		const { parts, nearMisses, openActions, endpoints } = compileHandler(instance, this.#options, segments)
		const { name, label, hooks } = parts
		if (factory !== undefined && instance.init !== RestHandler.prototype.init) {
			throw new TypeError(
				`${name}.init() would be called for every request, because ${JSON.stringify(path)} is mounted as a factory: open what it needs beforehand, and pass it to the constructor`,
			)
		}
		if (factory !== undefined && disposes(instance)) {
			throw new TypeError(
				`${name}.dispose() would never be called, because ${JSON.stringify(path)} is mounted as a factory: close what it holds where it was opened`,
			)
		}
		this.#options.disposals?.check(instance)
		const view =
			factory === undefined
				? viewConstructor(Object.freeze(Object.create(instance, this.#mountProperties())))
				: this.#viewsOfFactory(path, factory)
		const mount: Mount = {
			...parts,
			path: segments,
			handler: instance,
			routeOf: routesOf(segments, endpoints),
			wrap: flag(`${name}.wrap`, instance.wrap),
			errorBody: ERROR_BODY in instance ? (instance[ERROR_BODY] as Mount['errorBody']) : undefined,
			silent: flag(`${name}.suppressOutput`, instance.suppressOutput),
			deprecation: deprecationOf(instance),
			get endpoints() {
				return endpoints()
			},
			init: undefined,
			view: hooks === undefined ? view : onePerRequest(view),
		}
		const { observers = [] } = this.#options
		for (const { page } of observers) page.check(path, mount)
		if (!this.#mounts.add(mount))
			throw new TypeError(`${JSON.stringify(path)} is mounted twice: give each handler a path of its own`)
		for (const observer of observers) observer.mounted(instance)
		this.#warn(instance, name, nearMisses)
		if (openActions.length > 0 && !instance.suppressOutput)
			this.#app.logger.warn({ handler: name }, openText(label, openActions))
		if (factory === undefined) this.#initialize(mount, instance)
		// Frozen, so that `becomeView` can tell when the factory returns the same instance again.
		else Object.freeze(instance)
	}

	/** Waits for every mounted handler's `init`. Rejects with the first failure. */
	async ready(): Promise<void> {
		for (const mount of this.#pending) await mount.init
	}

	/** Warns once for each class, however often it is mounted. */
	#warn(instance: RestHandler, name: string, nearMisses: readonly NearMiss[]): void {
		if (instance.suppressOutput || this.#warned.has(instance.constructor)) return
		this.#warned.add(instance.constructor)
		const dropped = droppedStar(instance, RestHandler.prototype)
		if (dropped !== undefined) this.#app.logger.warn({ handler: name }, dropped)
		for (const miss of nearMisses) this.#app.logger.warn({ handler: name }, nearMissText(name, miss))
	}

	/** Properties that views get from their mount: one instance can be mounted many times. */
	#mountProperties(): PropertyDescriptorMap {
		return { controller: { value: this }, cache: { value: this.#app.cache } }
	}

	#viewsOfFactory(path: string, factory: () => RestHandler): Mount['view'] {
		return (exchange) => {
			const view = becomeView(instanceOf(path, factory), exchange)
			return Object.defineProperties(view, this.#mountProperties())
		}
	}

	/** Runs `init` once for each instance, then freezes the instance, so that later writes fail. */
	#initialize(mount: Mount, instance: RestHandler & { [INIT]?: Promise<void> }): void {
		this.#options.disposals?.add(instance, mount.silent, () => instance[INIT])
		if (instance.init === RestHandler.prototype.init) {
			freeze(instance)
			return
		}
		let done = instance[INIT]
		if (done === undefined) {
			done = (async () => {
				await instance.init()
				freeze(instance)
			})()
			// `ready` rejects with this error; until `ready` is called, an unhandled rejection would end the process.
			done.catch(() => {})
			Object.defineProperty(instance, INIT, { value: done })
		}
		mount.init = done
		this.#pending.add(mount)
		const finish = (): void => {
			mount.init = undefined
			this.#pending.delete(mount)
		}
		done.then(finish, () => {})
	}
}

/**
 * Freezes a handler. Undefined fields are removed first: otherwise views, which inherit from the handler, couldn't
 * assign to them.
 */
function freeze(instance: RestHandler): void {
	if (Object.isFrozen(instance)) return
	for (const name of Object.keys(instance)) {
		if (Reflect.get(instance, name) === undefined) Reflect.deleteProperty(instance, name)
	}
	Object.freeze(instance)
}

function isHandlerClass(value: Mountable): value is new () => RestHandler {
	return typeof value === 'function' && value.prototype instanceof RestHandler
}

function instanceOf(path: string, handler: Mountable): RestHandler {
	const instance: unknown =
		typeof handler !== 'function' ? handler : isHandlerClass(handler) ? new handler() : handler()
	if (instance instanceof RestHandler) return instance
	// An unhandled rejection would end the process.
	if (instance instanceof Promise) instance.catch(() => {})
	throw wrongKind(path, found(instance))
}

function wrongKind(path: string, found: string): TypeError {
	return new TypeError(
		`${JSON.stringify(path)} must be a RestHandler, a class that extends it, or a function that returns one, found ${found}`,
	)
}

function found(value: unknown): string {
	if (value instanceof Promise) return 'a promise: a factory must be synchronous'
	if (typeof value !== 'object' || value === null) return String(value === null ? null : typeof value)
	const name = value.constructor?.name ?? 'nothing'
	if ('fields' in value && 'list' in value)
		return `an instance of ${name}: new CrudHandler(model, { visible: … }) serves a model`
	return `an instance of ${name} (is verbena installed twice?)`
}
