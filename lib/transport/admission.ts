/**
 * What a request is refused for before any step looks at it. `Vetting`: what node:http lets through and a server must not
 * (RFC 9112), after which the connection is closed. `admit`: a Host that is not served (421), and, where the option says
 * so, a write from a page of another site (403); for all requests but those of health.
 */
import { isIPv4 } from 'node:net'
import { RestError } from '../base/error.ts'
import { listOf, refusal } from '../base/options.ts'
import type { App } from '../exchange/app.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Incoming } from '../request/incoming.ts'
import { parseTarget } from '../request/url.ts'

/** More header lines than this are refused: node drops the rest in silence, `Authorization` with it. */
export const MAX_HEADER_LINES = 1_000
/** Longest request-target, in characters. node's own limit counts it together with the headers, as 431. */
export const MAX_TARGET = 16_384

/** uri-host and port (RFC 3986 §3.2.2): a name or IPv4 address, or an IPv6 address in brackets. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-fA-F:.]+\])(?::\d{0,5})?$/

/** Checks requests of one server: it remembers the last Host that was right, as the next one is mostly the same. */
export class Vetting {
	readonly #mostLines: number
	#lastHost = ''

	/** `mostLines` is how many header lines the server in front passes on before it drops some. */
	constructor(mostLines: number) {
		this.#mostLines = mostLines
	}

	/** The error that a request must be refused with, after which its connection is closed. */
	check(incoming: Incoming): RestError | undefined {
		const { httpVersionMajor: major, httpVersionMinor: minor, headers, rawHeaders } = incoming
		if (major === 1 && minor <= 1) {
			// HTTP/1.0 may leave it out; what it sends must be right all the same (RFC 9112 §3.2).
			const mayLack = minor === 0 && headers.host === undefined
			if (!mayLack && (!this.#isHost(headers.host) || isTwice(rawHeaders, 'Host', 'host'))) {
				return new RestError(
					'bad_request',
					'The request must have one Host header with a name and, if need be, a port',
				)
			}
		} else if (major !== 2 || headers[':method'] === undefined) {
			// A true HTTP/2 request has pseudo-headers; node takes `HTTP/2.0` on a request line for one as well.
			return new RestError('version_not_supported', 'HTTP/1.1 and HTTP/1.0 are served')
		}
		if (rawHeaders.length > 2 * this.#mostLines) {
			return new RestError(
				'header_fields_too_large',
				`A request may have at most ${this.#mostLines} header lines`,
			)
		}
		if (headers['content-type'] !== undefined && isTwice(rawHeaders, 'Content-Type', 'content-type')) {
			return new RestError('bad_request', 'The request must have one Content-Type header at most')
		}
		if ((incoming.url?.length ?? 0) > MAX_TARGET) return new RestError('uri_too_long')
		return headers['transfer-encoding'] === undefined
			? undefined
			: checkCoding(headers['transfer-encoding'], major === 1 && minor === 0)
	}

	#isHost(host: string | undefined): boolean {
		if (host === undefined || host === '') return false
		if (host === this.#lastHost) return true
		if (!HOST.test(host) || host.startsWith(':')) return false
		this.#lastHost = host
		return true
	}
}

/**
 * Whether a header has more than one line. "A server MUST respond with a 400 to any request message that contains more
 * than one Host" (RFC 9112 §3.2). Of two Content-Types node shows the first; what stands in front may go by the other.
 */
function isTwice(rawHeaders: readonly string[], usual: string, lower: string): boolean {
	let count = 0
	for (let at = 0; at < rawHeaders.length; at += 2) {
		const name = rawHeaders[at] ?? ''
		if (name.length === lower.length && (name === usual || name.toLowerCase() === lower)) count++
	}
	return count > 1
}

/**
 * HTTP/1.0 knows no transfer codings: whoever sends one is wrong about where its message ends (RFC 9112
 * §6.1). Of the codings only `chunked` is served; to pass others on as content would be to misread it.
 */
function checkCoding(coding: string, isOld: boolean): RestError | undefined {
	if (isOld) return new RestError('bad_request', 'HTTP/1.0 has no Transfer-Encoding')
	if (coding.trim().toLowerCase() === 'chunked') return undefined
	return new RestError('not_implemented', 'The only Transfer-Encoding served is chunked')
}

/** Who is let in. */
export interface Admission {
	readonly app: App
	/** The hosts that are served; `undefined` where all are. Set again when our own server listens. */
	hosts: Hosts | undefined
	/** Whether pages of other sites may write. */
	readonly crossSiteWrites: boolean
}

const CROSS_SITE = Object.freeze(new RestError('forbidden', 'Pages of other sites may not write here'))

/** The refusal; `undefined` where there is none. */
export function admit({ app, hosts, crossSiteWrites }: Admission, exchange: Exchange): RestError | undefined {
	if (hosts !== undefined) {
		const host = authorityOf(exchange) ?? exchange.host()
		if (!hosts.serve(host)) {
			if (hosts.isFirstRefusal()) warn(exchange, refusedHost(host))
			return MISDIRECTED
		}
	}
	if (crossSiteWrites || exchange.headers['sec-fetch-site'] !== 'cross-site') return undefined
	const { method } = exchange.incoming
	// QUERY reads, and browsers ask by a preflight before they send it to another site.
	if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'QUERY') return undefined
	return app.cors?.isNamed(exchange.headers.origin) === true ? undefined : CROSS_SITE
}

/** The host of an absolute-form target, which replaces Host (RFC 9112 §3.2.2). What can't be read is refused later. */
function authorityOf({ incoming: { url = '' } }: Exchange): string | undefined {
	if (url.startsWith('/')) return undefined
	try {
		return parseTarget(url).authority
	} catch {
		return undefined
	}
}

/** A logger that fails leaves no request without an answer. */
function warn(exchange: Exchange, message: string): void {
	try {
		exchange.log('warn', message)
	} catch {}
}

/** What a name of the option is: `api.example.com`, `*.example.com`, `127.0.0.1`, `[::1]`. */
const NAME = /^(?:\*\.)?[a-z\d_](?:[a-z\d_.-]*[a-z\d_])?$|^\[[\da-f:.]+\]$/

/** Whether a host is one of those that are served. It remembers the last that was, as the next one is mostly the same. */
export class Hosts {
	/** What `inject` sends as Host by itself. */
	readonly own: string
	readonly #isServed: (name: string) => boolean
	#last = ''
	#hasWarned = false

	constructor(own: string, isServed: (name: string) => boolean) {
		this.own = own
		this.#isServed = isServed
	}

	/** `host` may have a port, which counts for nothing. An HTTP/1.0 request may name none: no browser leaves it out. */
	serve(host: string): boolean {
		if (host === this.#last || host === '') return true
		const name = host
			.replace(/:\d*$/, '')
			.replace(/(?<=.)\.$/, '')
			.toLowerCase()
		if (!this.#isServed(name)) return false
		this.#last = host
		return true
	}

	/** Whether the log has not been told of a refusal yet: whoever scans this server can't fill it. */
	isFirstRefusal(): boolean {
		const isFirst = !this.#hasWarned
		this.#hasWarned = true
		return isFirst
	}
}

/** Loopback names alone: the default of a server that listens on loopback, where no proxy is trusted. */
export function loopbackHosts(): Hosts {
	return new Hosts('localhost', (name) => {
		if (name === 'localhost' || name.endsWith('.localhost') || name === '[::1]') return true
		return name.startsWith('127.') && isIPv4(name)
	})
}

/** Whether an address of a listening socket is one that other machines can't reach. */
export function isLoopback(address: string): boolean {
	return address === '::1' || /^(?:::ffff:)?127\./i.test(address)
}

/**
 * The hosts of the option; `undefined` where it is not given, `'*'` where all are served.
 *
 * @throws TypeError for what no Host could be
 */
export function hostsOf(where: string, option: unknown): Hosts | '*' | undefined {
	if (option === undefined || option === '*') return option
	const names = listOf("a list of names, ['api.example.com'], or '*' for all", hostName)(where, option)
	const exact = new Set(names.filter((name) => !name.startsWith('*')))
	const endings = names.filter((name) => name.startsWith('*')).map((name) => name.slice(1))
	const own = (names[0] ?? '').replace('*', 'www')
	return new Hosts(own, (name) => exact.has(name) || endings.some((ending) => name.endsWith(ending)))
}

function hostName(where: string, name: unknown): string {
	const lower = typeof name === 'string' ? name.toLowerCase() : ''
	if (NAME.test(lower)) return lower
	const why = /^(?:[^:]+|\[.*\]):\d+$/.test(lower) ? ' (leave the port out, all are served)' : ''
	throw refusal(where, `'api.example.com', '*.example.com', '127.0.0.1' or '[::1]'${why}`, name)
}

/** One for all: wrong hosts are mostly somebody's scan, and cost no stack each. */
const MISDIRECTED: RestError = Object.freeze(
	new RestError('misdirected_request', 'This host is not served here: the option `hosts` says which are'),
)

/** What the log is told, once a server. */
function refusedHost(host: string): string {
	return `a request for the host ${JSON.stringify(host.slice(0, 255))} was refused with 421, which is told once: the option \`hosts\` names the hosts that are served; where it is not given and this server listens on loopback, these are localhost, *.localhost, 127.0.0.0/8 and [::1], unless \`trustProxy\` is set`
}
