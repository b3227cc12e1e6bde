/** The explorer: with `Accept: text/html`, each URL that answers JSON answers a page that shows it. */

import type { Exchange } from '../exchange/exchange.ts'
import { answer } from '../pipeline/answer.ts'
import { sealError } from '../reply/error-reply.ts'
import { pathOf } from '../reply/link.ts'
import type { Reply } from '../reply/text.ts'
import { prefersHtml } from '../request/accept.ts'
import type { Incoming } from '../request/incoming.ts'
import type { MountTree } from '../routing/mount.ts'
import { isShown, pageOf } from './page-reply.ts'
import { variedByAccept } from './reply-headers.ts'

/**
 * Answers one request, as a page to whoever prefers one. The request itself is answered as ever, and once: the
 * page shows what anybody else would be sent.
 */
export function explore(exchange: Exchange, mounts: MountTree): Reply | Promise<Reply> {
	const { method } = exchange.incoming
	const isRead = method === 'GET' || method === 'HEAD'
	const isPage = isRead && prefersHtml(exchange.headers.accept)
	if (isPage) ignoreKept(exchange)
	const reply = answer(exchange, mounts)
	if (!isRead) return reply
	if (isPage) return shown(exchange, mounts, reply)
	return reply instanceof Promise ? reply.then(variedByAccept) : variedByAccept(reply)
}

/**
 * What a client keeps is compared with what it would be sent (RFC 9110 §13.1.2), which is a page, and has neither tag nor
 * date. By the JSON's it would be told that nothing has changed: where a script has fetched the JSON, Chromium asks by its
 * tag when somebody opens the same address, and shows the JSON. It isn't known before that a method has a file for an
 * answer: that is sent whole.
 */
function ignoreKept({ headers }: Exchange): void {
	delete headers['if-none-match']
	delete headers['if-modified-since']
}

/**
 * Of a request to the root, whether somebody opens the path that a router in front has cut off (Express, Connect):
 * what is served below it is ours, and so is the map of that. Where nothing was cut off, the root is the router's own.
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
		if (!isShown(reply) || exchange.replied) return variedByAccept(reply)
		// What is made of it takes its time too: users are asked about, and a stream is read.
		if (exchange.due === Number.POSITIVE_INFINITY) exchange.allow(exchange.app.handlerTimeout, 'unavailable')
		return await pageOf(exchange, mounts, reply)
	} catch (error) {
		return sealError(exchange, error)
	}
}
