/**
 * `/openapi.json`: the OpenAPI 3.1 description of the API. `Server` mounts it as a handler if the option `openapi` is on.
 * The code that makes the description is in `document.ts`, which only servers with this option import.
 */
import { createHash } from 'node:crypto'
import type { AccessRules } from '../exchange/action.ts'
import type { MountFacts } from '../exchange/exchange.ts'
import { type HandlerController, RestHandler } from '../handler/handler.ts'
import { ERROR_BODY } from '../handler/mount/methods.ts'
import { exchangeOf } from '../handler/view.ts'
import { conditionsOf, etagOf, isWeaklyMatched } from '../reply/etag.ts'
import { routerPrefix } from '../reply/link.ts'
import type { MountTree } from '../routing/routing.ts'
import { RawJson } from '../wire/raw-json.ts'
import type { Description } from './document.ts'
import type { OpenApiInfo } from './options.ts'

/** The description's path, below the server's `base`. */
const PATH = 'openapi.json'

/**
 * Mounts the description of all handlers, including those mounted later.
 *
 * @throws TypeError if another handler is mounted at its path
 */
export function mountOpenApi(controller: HandlerController, mounts: MountTree, info: OpenApiInfo): void {
	try {
		controller.service(PATH, new OpenApi(mounts, info))
	} catch (cause) {
		const reason = cause instanceof Error ? cause.message : String(cause)
		throw new TypeError(`the option openapi serves ${PATH}: ${reason}`, { cause })
	}
	// If the import fails, the first request for the description answers 500 and logs the reason.
	import('./document.ts').catch(() => {})
}

interface ServedText {
	/** The digest of the description without `servers`, and the `servers`. */
	readonly source: string
	readonly text: string
	/** The ETag's opaque part. */
	readonly tag: string
}

/**
 * @param prefix the part of the path that a router in front has removed
 * @param own the mount of the description itself, which is left out
 */
type ServeText = (prefix: string, own: MountFacts | undefined) => Promise<ServedText>

class OpenApi extends RestHandler {
	// Without the envelope, but for errors.
	override readonly wrap = false
	readonly [ERROR_BODY] = (body: object): object => ({ success: false, ...body })
	override readonly access: AccessRules
	override readonly docs = { get__default: { summary: 'This API, described in OpenAPI' } }
	private readonly text: ServeText

	constructor(mounts: MountTree, info: OpenApiInfo) {
		super()
		this.access = { '*': info.access }
		this.text = servedBy(mounts, info)
	}

	async get__default(): Promise<RawJson | null> {
		const { incoming, headers, mount } = exchangeOf(this, 'get__default')
		const { text, tag } = await this.text(routerPrefix(incoming), mount)
		this.header('ETag', etagOf(tag))
		const { noneMatch } = conditionsOf(headers) ?? {}
		if (noneMatch === undefined || !isWeaklyMatched(noneMatch, tag)) return new RawJson(text)
		this.status(304)
		return null
	}
}

/**
 * Caches the description, which is made by the first request, and again after another mount. Describing thousands of
 * routes takes a second, and a client can vary the router's prefix: Express treats `/shop` and `/SHOP` alike. So
 * `servers`, which depends on the prefix, is added per request; otherwise such a client could keep the server busy.
 */
function servedBy({ all }: MountTree, info: OpenApiInfo): ServeText {
	/** The option `servers`, as JSON. */
	const given = info.servers && serversText(info.servers)
	/** The description of the first `count` mounts, shared by concurrent requests. */
	let description: Promise<Description> = Promise.resolve({ text: '{}', digest: '' })
	let count = 0
	let last: ServedText | undefined
	const current = (own: MountFacts | undefined): Promise<Description> => {
		if (count === all.length) return description
		const mounts = [...all]
		const made = import('./document.ts').then(({ openApiText }) => openApiText(mounts, info, own))
		description = made
		count = all.length
		// After a failure the next request tries again.
		made.catch(() => {
			if (description === made) count = 0
		})
		return made
	}
	return async (prefix, own) => {
		const servers = given ?? serversText([prefix || '/'])
		const { text, digest } = await current(own)
		const source = `${digest} ${servers}`
		if (last?.source === source) return last
		const tag = createHash('sha256').update(source).digest('base64url').slice(0, 22)
		last = { source, text: `${text.slice(0, -1)},"servers":${servers}}`, tag }
		return last
	}
}

function serversText(urls: readonly string[]): string {
	return JSON.stringify(urls.map((url) => ({ url })))
}
