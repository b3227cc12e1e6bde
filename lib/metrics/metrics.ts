/**
 * The page of metrics that Prometheus scrapes, `/metrics`. Its handler is an `UnlistedMount` of `handler/`, which answers
 * before any other step. It writes what `observe/request-counts.ts` has counted, and what `readings.ts` reads at the moment.
 * Created by `Server` if the option `metrics` is on; all state belongs to that server.
 */
import { TokenAuthenticator, tokenDigest } from '../auth/token/token-authenticator.ts'
import { optional, or, type Reader, type Readers, switchable, type Values } from '../base/options.ts'
import { CrudHandler } from '../crud/crud-handler.ts'
import type { App } from '../exchange/app.ts'
import type { MountObserver } from '../handler/controller.ts'
import { RestHandler } from '../handler/handler.ts'
import { pagePath, UnlistedMount } from '../handler/unlisted.ts'
import { RequestCounts } from '../observe/request-counts.ts'
import { qualitiesOf } from '../request/accept.ts'
import { Exposition, OPEN_METRICS, PROMETHEUS_TEXT } from './exposition.ts'
import { LoopDelay, writeCache, writeProcess, writeRequests, writeStores } from './readings.ts'

/** The option `metrics`: where the page is, and who may read it. */
export interface MetricsOptions {
	/** The path of the page, below `base`. @default 'metrics' */
	readonly path?: string
	/**
	 * What scrapers send as `Authorization: Bearer <token>`: 16 characters or more. With it, the page answers through proxies
	 * too. @default none: the page answers any request that no proxy has forwarded
	 */
	readonly token?: string
}

const readers = {
	path: or(pagePath('metrics'), 'metrics'),
	token: optional((where: string, value: unknown) => {
		if (typeof value === 'string' && /^[\w.~+/-]{16,}=*$/.test(value)) return value
		// The message must not show a secret.
		throw new TypeError(`${where} must be a text of 16 or more characters: letters, digits and -._~+/=`)
	}),
} satisfies Readers<MetricsOptions>

export type MetricsSettings = Values<typeof readers>

export const metricsOption: Reader<MetricsSettings | undefined> = switchable('{ path, token }', readers)

export class Metrics implements MountObserver {
	readonly page: UnlistedMount
	readonly counts = new RequestCounts()
	readonly #loopDelay = new LoopDelay()
	/** The sources of the mounted handlers' models; tables of one database share one. */
	readonly #sources = new Set<object>()

	/** @param base the server's option `base` */
	constructor(app: App, base: string, { path, token }: MetricsSettings) {
		const write = (page: Exposition): void => {
			this.counts.countEnded()
			writeRequests(page, this.counts)
			writeStores(page, this.#sources)
			writeCache(page, app.cache)
			writeProcess(page)
			this.#loopDelay.write(page)
		}
		const handler = new MetricsPage(write)
		if (token !== undefined) {
			const tokens = { [tokenDigest(token)]: { id: 'scraper' } }
			const authenticator = new TokenAuthenticator({ tokens, realm: 'metrics' })
			Object.assign(handler, { authenticator, access: { '*': 'user' } })
		}
		const ignores = token === undefined ? isForwarded : undefined
		this.page = new UnlistedMount(app, { option: 'metrics', base, path, handler, ignores })
	}

	mounted(handler: RestHandler): void {
		if (handler instanceof CrudHandler) this.#sources.add(handler.model.source ?? handler.model)
	}

	stop(): void {
		this.#loopDelay.stop()
	}
}

/**
 * Whether a proxy has forwarded the request. The page ignores these: otherwise a proxy that forwards all paths would publish
 * it. Scrapers connect to the process directly.
 */
function isForwarded({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): boolean {
	return FORWARDED.some((name) => headers[name] !== undefined)
}

const FORWARDED = [
	'forwarded',
	'x-forwarded-for',
	'x-forwarded-host',
	'x-forwarded-proto',
	'x-real-ip',
	'via',
]

class MetricsPage extends RestHandler {
	private readonly write: (page: Exposition) => void

	constructor(write: (page: Exposition) => void) {
		super()
		this.write = write
	}

	get__default(): Uint8Array {
		const type = prefersOpenMetrics(this.request.header('accept')) ? OPEN_METRICS : PROMETHEUS_TEXT
		const page = new Exposition(type === OPEN_METRICS)
		this.write(page)
		this.header('Content-Type', type)
		this.header('Cache-Control', 'no-store')
		this.header('Vary', 'Accept')
		return Buffer.from(page.toString())
	}
}

/** Whether Accept names OpenMetrics, with no lower quality than plain text. */
function prefersOpenMetrics(accept: string | undefined): boolean {
	if (accept === undefined) return false
	const qualities = qualitiesOf(accept)
	const quality = qualities.get('application/openmetrics-text') ?? 0
	return quality > 0 && quality >= (qualities.get('text/plain') ?? 0)
}
