/**
 * `UnlistedMount`: a handler for operators, apart from the server's mounts, such as the probes of `health/` and the page of
 * `metrics/`. `transport/serving.ts` passes each request to it before any other step; it answers those to its own paths by
 * running the pipeline with a mount tree of its own. So these requests are served under any host, without hooks, and are not
 * counted, logged, compressed or shown as a page. The handler isn't in the OpenAPI description.
 */
import { attempt } from '../base/attempt.ts'
import { ROUTE_METHODS } from '../base/http.ts'
import { type Reader, refusal } from '../base/options.ts'
import type { App } from '../exchange/app.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { answer } from '../pipeline/answer.ts'
import { answerPreflight, isPreflight } from '../pipeline/cors-preflight.ts'
import type { Reply } from '../reply/headers.ts'
import type { Incoming } from '../request/incoming.ts'
import { parseTarget } from '../request/url.ts'
import { type Mount, MountTree, parsePath } from '../routing/routing.ts'
import { Controller } from './controller.ts'
import type { RestHandler } from './handler.ts'

/** The handler of an `UnlistedMount`, and where it is mounted. */
export interface Unlisted {
	/** The server's option, for messages: `health`. */
	readonly option: string
	/** The server's option `base`. */
	readonly base: string
	/** Where the handler is mounted, below `base`. */
	readonly path: string
	readonly handler: RestHandler
	/** The resources that it has below its path. @default only the path itself */
	readonly resources?: readonly string[]
	/** Which requests to its paths are left to other handlers. @default none */
	readonly ignores?: ((incoming: Pick<Incoming, 'headers'>) => boolean) | undefined
}

/** Reads the option `path` of such a handler. */
export function pagePath(example: string): Reader<string> {
	return (where, value) => {
		if (typeof value !== 'string') throw refusal(where, `a path: '${example}'`, value)
		if (parsePath(where, value).length > 0) return value
		throw new TypeError(
			`${where} must have at least one segment, such as '${example}': every handler is below ''`,
		)
	}
}

const SLASH = 0x2f

type RequestHead = Pick<Incoming, 'url' | 'headers'>

export class UnlistedMount {
	readonly #unlisted: Unlisted
	readonly #segments: readonly string[]
	/** The segments of each path that it answers. */
	readonly #paths: readonly (readonly string[])[]
	/** How URLs of its paths begin, as clients spell them: other URLs needn't be parsed. */
	readonly #starts: readonly string[]
	readonly #own = new MountTree()

	constructor(app: App, unlisted: Unlisted) {
		const { option, base, path, handler, resources } = unlisted
		this.#unlisted = unlisted
		this.#segments = [...parsePath('base', base), ...parsePath(`${option}.path`, path)]
		this.#paths = resources?.map((name) => [...this.#segments, name]) ?? [this.#segments]
		const spellings = this.#paths.flatMap((own) => [own.join('/'), own.map(encodeURIComponent).join('/')])
		this.#starts = [...new Set(spellings)].map((path) => `/${path}`)
		new Controller(app, this.#own, base, { authenticator: undefined, acl: undefined }).service(path, handler)
	}

	/** The answer to a request to its paths; `undefined` for every other request. */
	answer(exchange: Exchange): Reply | Promise<Reply> | undefined {
		if (!this.takes(exchange.incoming)) return undefined
		// A preflight succeeds, so that a page that uses another method than GET can read the 405.
		if (exchange.incoming.method === 'OPTIONS' && isPreflight(exchange))
			return answerPreflight(exchange, undefined, [])
		const reply = answer(exchange, this.#own)
		// `handlerTimeoutSeconds` doesn't apply: what the handler waits for has a timeout of its own.
		exchange.due = Number.POSITIVE_INFINITY
		return reply
	}

	takes(incoming: RequestHead): boolean {
		const { url = '' } = incoming
		// Called for each request. Proxies may send an absolute URL.
		for (const start of this.#starts)
			if (url.startsWith(start) || url.charCodeAt(0) !== SLASH)
				return this.#isOwn(url) && this.#unlisted.ignores?.(incoming) !== true
		return false
	}

	#isOwn(url: string): boolean {
		// The pipeline refuses an invalid target.
		const segments = attempt(() => parseTarget(url).segments)
		return segments !== undefined && this.#paths.some((path) => isSame(path, segments))
	}

	/** @throws TypeError if a handler is mounted at or below its path, or has an action for one of its paths */
	check(typed: string, mount: Mount): void {
		const own = this.#segments
		const { path } = mount
		if (own.every((segment, at) => segment === path[at]))
			throw this.#collision(typed, path.length === own.length ? 'is that of' : 'is below that of')
		// Its path is longer and wins over a handler above it, but must not silently shadow the handler's actions.
		if (!path.every((segment, at) => segment === own[at])) return
		for (const taken of this.#paths) {
			const rest = taken.slice(path.length)
			for (const method of ROUTE_METHODS) {
				const action = mount.routes?.match(method, rest)?.value.action ?? mount.table.find(method, rest, 0)
				if (action !== undefined) throw this.#collision(typed, `has ${action.name}, which is below that of`)
			}
		}
	}

	/** @throws TypeError if both answer a path */
	checkOther(other: UnlistedMount): void {
		const same = this.#paths.find((path) => other.#paths.some((taken) => isSame(path, taken)))
		if (same === undefined) return
		const options = `${this.#unlisted.option} and ${other.#unlisted.option}`
		throw new TypeError(
			`the options ${options} both answer ${JSON.stringify(same.join('/'))}: change the path of one`,
		)
	}

	#collision(typed: string, how: string): TypeError {
		const { option, path } = this.#unlisted
		return new TypeError(
			`the handler path ${JSON.stringify(typed)} ${how} the option ${option}, ${JSON.stringify(path)}: change one of them`,
		)
	}
}

function isSame(path: readonly string[], segments: readonly string[]): boolean {
	return path.length === segments.length && path.every((segment, at) => segment === segments[at])
}
