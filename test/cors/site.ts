/** An API for tests of `cors`, called over a socket with a browser's headers. */
import {
	type CorsOptions,
	type Request,
	RestError,
	RestHandler,
	reply,
	type ServerOptions,
} from '../../lib/index.ts'
import { listening } from '../helpers/listening.ts'
import { ask, type RawResponse, requestText } from '../helpers/raw.ts'

export const APP = 'https://app.example.com'
export const OTHER = 'https://other.example.com'
export const EVIL = 'https://evil.example'
export const CORS: CorsOptions = { origins: [APP, OTHER] }
export const EXPOSED =
	'Accept-Signature, Allow, Content-Range, Deprecation, ETag, Idempotent-Replayed, Link, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-Total-Count'

export class Api extends RestHandler {
	readonly calls: string[] = []
	override readonly authenticator = {
		authenticate: (request: Request) => {
			if (request.header('Authorization') === undefined) return null
			throw new RestError('unauthorized')
		},
	}
	override access = { get_secret: 'user', put_secret: 'user' }
	override rateLimits = { get_limited: { limit: 1, windowSeconds: 60 } }
	override idempotencyKeys = 'anyone'

	get_article(id: string) {
		return id
	}
	post_article() {
		this.calls.push('post')
		return reply('made', { status: 201, headers: { Location: '/article/5' } })
	}
	put_article(_id: string) {}
	delete_article(_id: string) {}
	post_form() {
		this.calls.push('form')
		return this.post
	}
	get_secret() {}
	put_secret() {}
	get_limited() {}
	get_broken() {
		throw new Error('the disk is full')
	}
	get_unavailable() {
		throw new RestError('unavailable')
	}
	get_varied() {
		this.header('Vary', 'Accept-Language, Cookie')
		return null
	}
	get_two() {
		this.header('Vary', ['Accept', 'Cookie'])
		return null
	}
	get_known() {
		this.header('vary', 'origin')
		return null
	}
	get_star() {
		this.header('Vary', '*')
		return null
	}
	get_empty() {
		this.header('Vary', '')
		return null
	}
	get_everybody() {
		this.header('Access-Control-Allow-Origin', '*')
		this.header('Access-Control-Expose-Headers', 'X-Own')
		return null
	}
	get_bytes() {
		return Buffer.from('bytes')
	}
	async *get_numbers() {
		yield 1
	}
	get_unchanged() {
		this.status(304)
	}
	get_slow() {
		this.calls.push('slow')
		return new Promise((resolve) => this.request.signal.addEventListener('abort', resolve))
	}
}

/** The answer's `Access-Control-*` headers and `Vary`, without the beginning. */
export function corsOf({ headers }: Pick<RawResponse, 'headers'>): Record<string, string> {
	return Object.fromEntries(
		Object.entries(headers)
			.filter(([name]) => name.startsWith('access-control-') || name === 'vary')
			.map(([name, value]) => [name.replace('access-control-', ''), value]),
	)
}

export type Headers = Readonly<Record<string, string>>

export function linesOf(headers: Headers): string[] {
	return Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
}

/** Opens the site, and answers requests such as `GET /article/5`. */
export function onSite(
	use: (
		send: (line: string, headers?: Headers, body?: string) => Promise<RawResponse>,
		api: Api,
	) => Promise<void>,
	cors: CorsOptions = CORS,
	options: ServerOptions = {},
): Promise<void> {
	const api = new Api()
	return listening({ '': api }, { cors, ...options }, ({ port }) =>
		use((line, headers = {}, body = '') => {
			const [method] = line.split(' ')
			return ask(port, requestText(line, linesOf(headers), body), method)
		}, api),
	)
}

/** What a browser asks before a request. */
export function preflight(origin: string, method: string, names?: string): Headers {
	return {
		...{ Origin: origin, 'Access-Control-Request-Method': method },
		...(names === undefined ? {} : { 'Access-Control-Request-Headers': names }),
	}
}

export const ALLOWED = { 'allow-origin': APP, 'expose-headers': EXPOSED }
export const VARY = { vary: 'Origin' }
