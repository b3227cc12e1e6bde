/**
 * Checks of a request before the pipeline. `Vetting` refuses malformed messages that node:http lets through (RFC 9112);
 * their connection is closed. `admit` refuses a Host that is not served (421) and, with `crossSiteWrites: false`, a write
 * from a page of another site (403); health probes are exempt.
 */
import { isIPv4 } from 'node:net'
import { attempt } from '../base/attempt.ts'
import { RestError } from '../base/error.ts'
import { listOf, refusal } from '../base/options.ts'
import type { App } from '../exchange/app.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Incoming } from '../request/incoming.ts'
import { parseTarget } from '../request/url.ts'

/**
 * Maximum number of header lines. Beyond its limit node silently drops lines, perhaps `Authorization`; we refuse the
 * request.
 */
export const MAX_HEADER_LINES = 1_000
/**
 * Maximum length of a request-target, in characters (414). node has only one limit, for target and headers together
 * (431).
 */
export const MAX_TARGET = 16_384

/** uri-host and port (RFC 3986 §3.2.2): a name or IPv4 address, or an IPv6 address in brackets. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-fA-F:.]+\])(?::\d{0,5})?$/

/** Checks the requests of one server; caches the last valid Host, because most requests repeat it. */
export class Vetting {
	readonly #maxLines: number
	#lastHost = ''

	/** `maxLines`: how many header lines the node server passes on before it drops some. */
	constructor(maxLines: number) {
		this.#maxLines = maxLines
	}

	/** The error to answer with, if the request is malformed; its connection must be closed then. */
	check(incoming: Incoming): RestError | undefined {
		const { httpVersionMajor: major, httpVersionMinor: minor, headers, rawHeaders } = incoming
		if (major === 1 && minor <= 1) {
			// HTTP/1.0 may omit Host; one that is sent must be valid (RFC 9112 §3.2).
			const isOmitted = minor === 0 && headers.host === undefined
			if (!isOmitted && (!this.#isValidHost(headers.host) || isRepeated(rawHeaders, 'Host', 'host'))) {
				return new RestError(
					'bad_request',
					'The request must have one Host header with a name and, if need be, a port',
				)
			}
		} else if (major !== 2 || headers[':method'] === undefined) {
			// Only real HTTP/2 has pseudo-headers: node reports version 2 for `HTTP/2.0` on a request line, too.
			return otherVersion()
		}
		if (rawHeaders.length > 2 * this.#maxLines) {
			return new RestError(
				'header_fields_too_large',
				`A request may have at most ${this.#maxLines} header lines`,
			)
		}
		if (headers['content-type'] !== undefined && isRepeated(rawHeaders, 'Content-Type', 'content-type')) {
			return new RestError('bad_request', 'The request must have one Content-Type header at most')
		}
		if ((incoming.url?.length ?? 0) > MAX_TARGET) return new RestError('uri_too_long')
		return headers['transfer-encoding'] === undefined
			? undefined
			: checkCoding(headers['transfer-encoding'], major === 1 && minor === 0)
	}

	#isValidHost(host: string | undefined): boolean {
		if (host === undefined || host === '') return false
		if (host === this.#lastHost) return true
		if (!isHost(host)) return false
		this.#lastHost = host
		return true
	}
}

/** Whether a text is a host's name or address, and perhaps a port. */
export function isHost(text: string): boolean {
	return text !== '' && HOST.test(text) && !text.startsWith(':')
}

export function otherVersion(): RestError {
	return new RestError('version_not_supported', 'HTTP/1.1 and HTTP/1.0 are served')
}

/**
 * Whether a header has more than one line. "A server MUST respond with a 400 to any request message that contains more
 * than one Host" (RFC 9112 §3.2). node keeps the first of two Content-Types; a proxy in front may have checked the other.
 */
function isRepeated(rawHeaders: readonly string[], usual: string, lower: string): boolean {
	let count = 0
	for (let at = 0; at < rawHeaders.length; at += 2) {
		const name = rawHeaders[at] ?? ''
		if (name.length === lower.length && (name === usual || name.toLowerCase() === lower)) count++
	}
	return count > 1
}

/**
 * HTTP/1.0 has no transfer codings: a 1.0 message with Transfer-Encoding has faulty framing (RFC 9112 §6.1). Only
 * `chunked` is decoded; a body in any other coding would be misread.
 */
function checkCoding(coding: string, isOld: boolean): RestError | undefined {
	if (isOld) return new RestError('bad_request', 'HTTP/1.0 has no Transfer-Encoding')
	if (coding.trim().toLowerCase() === 'chunked') return undefined
	return new RestError('not_implemented', 'The only Transfer-Encoding served is chunked')
}

export interface Admission {
	readonly app: App
	/** The hosts that are served; `undefined` for all. Set again when our own server listens. */
	hosts: Hosts | undefined
	/** Whether pages of other sites may send writes. */
	readonly crossSiteWrites: boolean
}

const CROSS_SITE = Object.freeze(new RestError('forbidden', 'Pages of other sites may not write here'))

/** The error to answer with, if the request is refused. */
export function admit({ app, hosts, crossSiteWrites }: Admission, exchange: Exchange): RestError | undefined {
	if (hosts !== undefined) {
		const host = authorityOf(exchange) ?? exchange.host()
		if (!hosts.serve(host)) {
			if (hosts.isFirstRefusal()) warnOfHost(exchange, host)
			return MISDIRECTED
		}
	}
	if (crossSiteWrites) return undefined
	const { method } = exchange.incoming
	// QUERY is a read, and browsers send a preflight before a cross-site QUERY.
	if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'QUERY') return undefined
	if (!isCrossSite(exchange)) return undefined
	return app.cors?.isNamed(exchange.headers.origin) === true ? undefined : CROSS_SITE
}

/** Whether a page of another site sends a write, as far as the browser tells. */
function isCrossSite(exchange: Exchange): boolean {
	const { 'sec-fetch-site': site, origin } = exchange.headers
	if (site !== undefined) return site === 'cross-site'
	// Missing in older browsers, and in all of them over plain HTTP to anything but loopback. They send Origin with a write.
	if (origin === undefined) return false
	const url = attempt(() => new URL(origin))
	return url === undefined || nameOf(url.host) !== nameOf(authorityOf(exchange) ?? exchange.host())
}

/** A host without its port. */
function nameOf(host: string): string {
	return host
		.replace(/:\d*$/, '')
		.replace(/(?<=.)\.$/, '')
		.toLowerCase()
}

/** The host of an absolute-form target, which replaces Host (RFC 9112 §3.2.2). Malformed targets are refused later. */
function authorityOf({ incoming: { url = '' } }: Exchange): string | undefined {
	return url.startsWith('/') ? undefined : attempt(() => parseTarget(url).authority)
}

/** Logs the first refusal; a logger that throws must not leave the request unanswered. */
function warnOfHost(exchange: Exchange, host: string): void {
	attempt(() =>
		exchange.log(
			'warn',
			`a request for the host ${JSON.stringify(host.slice(0, 255))} was refused with 421 (logged once): list the hosts to serve in the option \`hosts\`; without it, a server that listens on loopback and has no \`trustProxy\` serves localhost, *.localhost, 127.0.0.0/8 and [::1]`,
		),
	)
}

/** An entry of the option: `api.example.com`, `*.example.com`, `127.0.0.1`, `[::1]`. */
const NAME = /^(?:\*\.)?[a-z\d_](?:[a-z\d_.-]*[a-z\d_])?$|^\[[\da-f:.]+\]$/

/** The hosts that are served. Caches the last match, because most requests repeat it. */
export class Hosts {
	/** The default Host of `inject`. */
	readonly own: string
	readonly #isServed: (name: string) => boolean
	#last = ''
	#hasWarned = false

	constructor(own: string, isServed: (name: string) => boolean) {
		this.own = own
		this.#isServed = isServed
	}

	/**
	 * Whether `host` is served, with any port. An empty host, which HTTP/1.0 allows, is served: DNS rebinding needs a
	 * browser, and browsers always send a host.
	 */
	serve(host: string): boolean {
		if (host === this.#last || host === '') return true
		const name = nameOf(host)
		if (!this.#isServed(name)) return false
		this.#last = host
		return true
	}

	/** True on the first call only: one log line per server, so that a scanner can't flood the log. */
	isFirstRefusal(): boolean {
		const isFirst = !this.#hasWarned
		this.#hasWarned = true
		return isFirst
	}
}

/** Serves loopback names only: the default of a server that listens on loopback and trusts no proxy. */
export function loopbackHosts(): Hosts {
	return new Hosts('localhost', (name) => {
		if (name === 'localhost' || name.endsWith('.localhost') || name === '[::1]') return true
		return name.startsWith('127.') && isIPv4(name)
	})
}

/** Whether a listening socket's address can't be reached from other machines. */
export function isLoopback(address: string): boolean {
	return address === '::1' || /^(?:::ffff:)?127\./i.test(address)
}

/**
 * Reads the option `hosts`: `undefined` when it is not given, `'*'` for all.
 *
 * @throws TypeError for an entry that can't be a host name
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
	const hint = /^(?:[^:]+|\[.*\]):\d+$/.test(lower) ? ' (leave the port out: every port is served)' : ''
	throw refusal(where, `'api.example.com', '*.example.com', '127.0.0.1' or '[::1]'${hint}`, name)
}

/** Shared: wrong hosts mostly come from scanners, and must not cost a stack trace each. */
const MISDIRECTED: RestError = Object.freeze(
	new RestError('misdirected_request', 'This host is not served here: the option `hosts` says which are'),
)
