/** Makes pages: a page for an answer, with its status, what can be done at its path, and the map at the root. */
import { randomBytes } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Exchange } from '../exchange/exchange.ts'
import { headers, type Reply } from '../reply/text.ts'
import type { MountTree } from '../routing/mount.ts'
import { bodyText } from './body-text.ts'
import { authenticatorFor, Callers } from './callers.ts'
import { documentOf } from './document.ts'
import { mapOf, rootsOf } from './map.ts'
import type { AnswerData, PageData } from './page-data.ts'
import { crumbsOf, isAbove, type Place, placeOf } from './place.ts'
import { headerOf, isJson, pageHeaders } from './reply-headers.ts'
import { recordPathAt, waysAt } from './ways.ts'

/** Whether an answer becomes a page: JSON that is there to be read, not to be kept as a file. */
export function isShown(reply: Reply): boolean {
	const { status, headers } = reply
	// Who is sent elsewhere sees nothing of this; and who asks for a part wants that.
	if (status === 206 || (status >= 300 && status < 400)) return false
	if (!isJson(reply) || headerOf(headers, 'content-encoding') !== undefined) return false
	return !/^\s*attachment/i.test(headerOf(headers, 'content-disposition') ?? '')
}

/** The page for an answer, which is used up. */
export async function pageOf(exchange: Exchange, mounts: MountTree, reply: Reply): Promise<Reply> {
	const isHead = exchange.incoming.method === 'HEAD'
	const place = placeOf(exchange, mounts)
	const { text, note } = await bodyText(exchange, reply)
	// Above handlers, where no method answers, is the map. To anybody else it is not found.
	const isMapOnly = reply.status === 404 && exchange.action === undefined && isMapped(place, mounts)
	const status = isMapOnly ? 200 : reply.status
	const lines = isMapOnly ? mapLines(exchange) : reply.headers
	const nonce = randomBytes(18).toString('base64')
	if (isHead) return { status, headers: pageHeaders(lines, nonce, undefined), body: null }
	const answer: AnswerData = {
		status,
		reason: STATUS_CODES[status] ?? '',
		headers: linesOf(reply.headers),
		body: text,
		note,
	}
	const data = await dataOf(exchange, mounts, place, isMapOnly ? undefined : answer)
	const page = documentOf(data, nonce)
	return { status, headers: pageHeaders(lines, nonce, Buffer.byteLength(page)), body: page }
}

/** Those that every answer has: what `onError` has set is for an error, and none is answered. */
function mapLines(exchange: Exchange): readonly string[] {
	exchange.headerLines = undefined
	return headers(exchange, [])
}

function isMapped({ isPath, segments }: Place, mounts: MountTree): boolean {
	return isPath && (segments.length === 0 || mounts.all.some((mount) => isAbove(segments, mount)))
}

async function dataOf(
	exchange: Exchange,
	mounts: MountTree,
	place: Place,
	answer: AnswerData | undefined,
): Promise<PageData> {
	const { segments } = place
	const isOver = mounts.all.some(({ path }) => path.length > segments.length && isAbove(segments, { path }))
	const hasMap = answer === undefined || (place.isPath && (segments.length === 0 || isOver))
	const callers = new Callers(exchange, authenticatorFor(exchange, mounts, place, hasMap))
	const ways = await waysAt(exchange, place, callers, answer?.status ?? 200)
	const map = hasMap ? await mapOf(mounts, place, callers) : undefined
	return {
		url: place.url,
		crumbs: crumbsOf(mounts, place),
		answer,
		ways,
		recordPath: await recordPathAt(exchange, place, callers),
		map,
		roots: await rootsOf(mounts, place, callers),
		user: await callers.name(),
	}
}

/** A cookie's value is kept from scripts by HttpOnly, and so from the page's. */
function linesOf(headers: readonly string[]): [string, string][] {
	const lines: [string, string][] = []
	for (let at = 0; at < headers.length; at += 2) {
		const [name = '', value = ''] = headers.slice(at, at + 2)
		lines.push([name, name.toLowerCase() === 'set-cookie' ? value.replace(/=[^;]*/, '=…') : value])
	}
	return lines
}
