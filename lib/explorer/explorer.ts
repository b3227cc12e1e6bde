/**
 * The explorer: with `Accept: text/html`, each URL that answers JSON answers a page that shows it. Where the option
 * `explorer` is on, `transport/serving.ts` calls `explore` in place of the pipeline's `answer`, which `explore` calls
 * itself. What makes the pages is in `page-reply.ts`: it is imported when such a server is made, and never by others.
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

/** Begins to import the code of the pages. Where that fails, the first page answers 500, and its log line says why. */
export function loadPages(): void {
	pages().catch(() => {})
}

function pages(): Promise<typeof import('./page-reply.ts')> {
	return import('./page-reply.ts')
}

/**
 * Answers one request; as a page where the client prefers HTML. The request itself is answered once, as it would be
 * for any other client, and the page shows that answer.
 */
export function explore(exchange: Exchange, mounts: MountTree): Reply | Promise<Reply> {
	const { method } = exchange.incoming
	const isRead = method === 'GET' || method === 'HEAD'
	const isPage = isRead && prefersHtml(exchange.headers.accept)
	if (isPage) ignoreValidators(exchange)
	const reply = answer(exchange, mounts)
	if (!isRead) return reply
	if (isPage) return shown(exchange, mounts, reply)
	return reply instanceof Promise ? reply.then(variedByAccept) : variedByAccept(reply)
}

/**
 * Conditions compare with the representation that would be sent (RFC 9110 §13.1.2): a page, which has neither ETag nor
 * date. With those of the JSON the client would be answered 304: after a script has fetched the JSON, Chromium sends its
 * ETag when somebody opens the same address, and would show the JSON. A file that a method answers is sent whole then,
 * as it isn't known beforehand.
 */
function ignoreValidators({ headers }: Exchange): void {
	delete headers['if-none-match']
	delete headers['if-modified-since']
}

/**
 * Whether a request to the root opens the path that a router in front has cut off (Express, Connect): what is served
 * below it is ours, and so is its map. Where nothing was cut off, the root is the router's own.
 */
export function isMapBehind({ method, originalUrl, headers }: Incoming): boolean {
	if (method !== 'GET' && method !== 'HEAD') return false
	if (typeof originalUrl !== 'string' || pathOf(originalUrl) === '') return false
	return prefersHtml(headers.accept)
}

/** Like the answer itself, it never rejects. */
async function shown(
	exchange: Exchange,
	mounts: MountTree,
	answered: Reply | Promise<Reply>,
): Promise<Reply> {
	try {
		const reply = await answered
		if (!isShown(reply) || exchange.isReplied) return variedByAccept(reply)
		// The page takes its time too: authenticators are asked, and a stream is read.
		if (exchange.due === Number.POSITIVE_INFINITY)
			exchange.setDeadline(exchange.app.handlerTimeout, 'unavailable')
		const { pageOf } = await pages()
		return await pageOf(exchange, mounts, reply)
	} catch (error) {
		disposeBody((await answered).body)
		return sealError(exchange, error)
	}
}

/** Whether an answer becomes a page: JSON that is there to be read, not to be kept as a file. */
function isShown(reply: Reply): boolean {
	const { status, headers } = reply
	// A redirect shows nothing, and a request for a range wants just that.
	if (status === 206 || (status >= 300 && status < 400)) return false
	if (!isJson(reply) || headerOf(headers, 'content-encoding') !== undefined) return false
	return !/^\s*attachment/i.test(headerOf(headers, 'content-disposition') ?? '')
}

function isJson({ headers }: Reply): boolean {
	return isJsonType(headerOf(headers, 'content-type') ?? '')
}

/** JSON, and a 304 in its place, are told apart from the page by `Vary: Accept` (RFC 9110 §12.5.5). */
function variedByAccept(reply: Reply): Reply {
	if (!isJson(reply) && reply.status !== 304) return reply
	const headers = [...reply.headers]
	vary(headers, 'Accept')
	return { ...reply, headers }
}
