/**
 * The explorer: a client that prefers HTML gets each JSON response as a page. With the option `explorer`,
 * `transport/serving.ts` calls `explore`, which wraps the pipeline's `answer`. The code that makes pages is in
 * `page-reply.ts`, which only servers with this option import.
 */
import type { Exchange } from '../exchange/exchange.ts'
import { answer } from '../pipeline/answer.ts'
import { sealError } from '../reply/error-reply.ts'
import { headerOf, type Reply, vary } from '../reply/headers.ts'
import { pathOf } from '../reply/link.ts'
import { disposeBody } from '../reply/unsent.ts'
import { prefersHtml } from '../request/accept.ts'
import type { Incoming } from '../request/incoming.ts'
import type { MountTree } from '../routing/routing.ts'
import { isJsonType } from '../wire/json-type.ts'

/** Starts to import the code of the pages. If that fails, the first page answers 500 and logs the reason. */
export function loadPages(): void {
	import('./page-reply.ts').catch(() => {})
}

/**
 * Answers a request, as a page if the client prefers HTML. The pipeline runs once, as for any other client, and the page
 * shows its reply.
 */
export function explore(exchange: Exchange, mounts: MountTree): Reply | Promise<Reply> {
	const { method } = exchange.incoming
	const isRead = method === 'GET' || method === 'HEAD'
	const isPage = isRead && prefersHtml(exchange.headers.accept)
	if (isPage) ignoreValidators(exchange)
	const reply = answer(exchange, mounts)
	if (!isRead) return reply
	if (isPage) return pageFor(exchange, mounts, reply)
	return reply instanceof Promise ? reply.then(withVaryAccept) : withVaryAccept(reply)
}

/**
 * Removes the conditions that could lead to a 304. They are about the representation that would be sent (RFC 9110
 * §13.1.2): a page, which has neither ETag nor date. After a script has fetched the JSON, Chromium sends the JSON's
 * ETag when the same address is opened; a 304 would then show the JSON. Files lose their 304 too, because the content
 * type isn't known yet.
 */
function ignoreValidators({ headers }: Exchange): void {
	delete headers['if-none-match']
	delete headers['if-modified-since']
}

/**
 * Whether a request opens the path at which a router (Express, Connect) mounts this server: the map is then served
 * there. Without such a prefix, the root belongs to the router.
 */
export function isMapBehindRouter({ method, originalUrl, headers }: Incoming): boolean {
	if (method !== 'GET' && method !== 'HEAD') return false
	if (typeof originalUrl !== 'string' || pathOf(originalUrl) === '') return false
	return prefersHtml(headers.accept)
}

/** Never rejects, like the pipeline's `answer`. */
async function pageFor(
	exchange: Exchange,
	mounts: MountTree,
	pending: Reply | Promise<Reply>,
): Promise<Reply> {
	try {
		const reply = await pending
		if (!isShownAsPage(reply) || exchange.isReplied) return withVaryAccept(reply)
		// Making the page has a deadline too: it calls an authenticator and may read a stream.
		if (exchange.due === Number.POSITIVE_INFINITY)
			exchange.setDeadline(exchange.app.handlerTimeout, 'unavailable')
		const { pageOf } = await import('./page-reply.ts')
		return await pageOf(exchange, mounts, reply)
	} catch (error) {
		disposeBody((await pending).body)
		return sealError(exchange, error)
	}
}

/** Whether a reply becomes a page: JSON, and neither a redirect, nor a range, nor a download. */
function isShownAsPage(reply: Reply): boolean {
	const { status, headers } = reply
	if (status === 206 || (status >= 300 && status < 400)) return false
	if (!isJson(reply) || headerOf(headers, 'content-encoding') !== undefined) return false
	return !/^\s*attachment/i.test(headerOf(headers, 'content-disposition') ?? '')
}

function isJson({ headers }: Reply): boolean {
	return isJsonType(headerOf(headers, 'content-type') ?? '')
}

/** `Vary: Accept` keeps caches from sending JSON, or a 304 for it, in place of a page (RFC 9110 §12.5.5). */
function withVaryAccept(reply: Reply): Reply {
	if (!isJson(reply) && reply.status !== 304) return reply
	const headers = [...reply.headers]
	vary(headers, 'Accept')
	return { ...reply, headers }
}
