/**
 * What a request is refused for before any step looks at it: a Host that is not served (421), and, where the option says
 * so, a write from a page of another site (403). Called by the listener, for all requests but those of health.
 */

import { RestError } from '../base/error.ts'
import type { App } from '../exchange/app.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { parseTarget } from '../request/url.ts'
import { type Hosts, MISDIRECTED, refusedHost } from './hosts.ts'

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
