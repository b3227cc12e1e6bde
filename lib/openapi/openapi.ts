/**
 * `/openapi.json`: the API, described in OpenAPI 3.1. `Server` mounts it, a handler like any other, where the option
 * `openapi` is on. What makes the description is in `document.ts`: it is imported when such a server is made, and never
 * by others.
 */
import { createHash } from 'node:crypto'
import { conditionsOf, etagOf, isWeaklyMatched } from '../crud/preconditions.ts'
import type { AccessRules } from '../exchange/action.ts'
import type { MountFacts } from '../exchange/exchange.ts'
import { type HandlerController, RestHandler } from '../handler/handler.ts'
import { exchangeOf } from '../handler/view.ts'
import { routerPrefix } from '../reply/link.ts'
import type { MountTree } from '../routing/routing.ts'
import { RawJson } from '../wire/raw-json.ts'
import type { Description } from './document.ts'
import type { OpenApiInfo } from './options.ts'

/** Its path, below the server's `base`. */
const PATH = 'openapi.json'

/**
 * Mounts the description of all handlers, those mounted later included.
 *
 * @throws TypeError where another handler is mounted at its path
 */
export function mountOpenApi(controller: HandlerController, mounts: MountTree, info: OpenApiInfo): void {
	try {
		controller.service(PATH, new OpenApi(mounts, info))
	} catch (cause) {
		const reason = cause instanceof Error ? cause.message : String(cause)
		throw new TypeError(`the option openapi serves ${PATH}: ${reason}`, { cause })
	}
	// Where it fails, the first request for the description answers 500, and its log line says why.
	documents().catch(() => {})
}

function documents(): Promise<typeof import('./document.ts')> {
	return import('./document.ts')
}

/** The description with its `servers`. */
interface Served {
	/** The `servers`, as JSON. */
	readonly servers: string
	/** Of the description without them. */
	readonly digest: string
	readonly text: string
	readonly tag: string
}

/** Answers the description. */
class OpenApi extends RestHandler {
	override readonly wrap = false
	override readonly access: AccessRules
	override readonly docs = { get__default: { summary: 'This API, described in OpenAPI' } }
	private readonly text: DescriptionText

	constructor(mounts: MountTree, info: OpenApiInfo) {
		super()
		this.access = { '*': info.access }
		this.text = new DescriptionText(mounts, info)
	}

	async get__default(): Promise<RawJson | null> {
		const { incoming, headers, mount } = exchangeOf(this, 'get__default')
		const { text, tag } = await this.text.below(routerPrefix(incoming), mount)
		this.header('ETag', etagOf(tag))
		const { noneMatch } = conditionsOf(headers) ?? {}
		if (noneMatch === undefined || !isWeaklyMatched(noneMatch, tag)) return new RawJson(text)
		this.status(304)
		return null
	}
}

/**
 * The text of the description: made by the first request for it, and again after something was mounted. `servers` is added
 * for each request, as it depends on the router's prefix: Express takes `/shop` and `/SHOP` alike, and describing thousands
 * of routes takes a second, so a client that varied the prefix could otherwise keep the server busy.
 */
class DescriptionText {
	readonly #mounts: MountTree
	readonly #info: OpenApiInfo
	/** Those of the option, as JSON. */
	readonly #servers: string | undefined
	/** Made or being made, for the first `#count` mounts; concurrent requests share it. */
	#making: Promise<Description> = Promise.resolve({ text: '{}', digest: '' })
	#count = 0
	#served: Served | undefined

	constructor(mounts: MountTree, info: OpenApiInfo) {
		this.#mounts = mounts
		this.#info = info
		this.#servers = info.servers && serversText(info.servers)
	}

	/**
	 * @param prefix what a router in front has cut off the path
	 * @param own the mount of the description itself, which it leaves out
	 */
	async below(prefix: string, own: MountFacts | undefined): Promise<Served> {
		const servers = this.#servers ?? serversText([prefix || '/'])
		const { text, digest } = await this.#description(own)
		if (this.#served?.servers === servers && this.#served.digest === digest) return this.#served
		const whole = `${text.slice(0, -1)},"servers":${servers}}`
		this.#served = { servers, digest, text: whole, tag: digestOf(`${digest} ${servers}`).slice(0, 22) }
		return this.#served
	}

	#description(own: MountFacts | undefined): Promise<Description> {
		const { all } = this.#mounts
		if (this.#count === all.length) return this.#making
		const mounts = [...all]
		const making = documents().then(({ openApiText }) => openApiText(mounts, this.#info, own))
		this.#making = making
		this.#count = all.length
		// The next request tries again.
		making.catch(() => {
			if (this.#making === making) this.#count = 0
		})
		return making
	}
}

function serversText(urls: readonly string[]): string {
	return JSON.stringify(urls.map((url) => ({ url })))
}

function digestOf(text: string): string {
	return createHash('sha256').update(text).digest('base64url')
}
