/**
 * The place of a request in the API: its path, the mount that serves it, breadcrumbs, and the actions of other methods.
 */
import { attempt } from '../base/attempt.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { pathOf, routerPrefix } from '../reply/link.ts'
import { parseTarget } from '../request/url.ts'
import { findAction, type Mount, type MountTree, methodsOf } from '../routing/routing.ts'
import type { Crumb } from './page-data.ts'

export interface Place {
	/** Decoded segments; empty for the root and for an invalid target. */
	readonly segments: readonly string[]
	/** The segments as they were sent. */
	readonly sent: readonly string[]
	/** Whether the target is a valid path. */
	readonly isPath: boolean
	readonly mount: Mount | undefined
	/** The number of segments in the mount's path. */
	readonly depth: number
	/** The prefix that a router in front has removed, such as `/api` in Express; usually empty. */
	readonly prefix: string
	/** Whether a router in front serves the other paths. */
	readonly isBehindRouter: boolean
	/** Path and query as the client sent them. */
	readonly url: string
}

export function placeOf(exchange: Exchange, mounts: MountTree): Place {
	const { url = '/', originalUrl } = exchange.incoming
	const target = exchange.target()
	const segments = attempt(() => parseTarget(url).segments)
	const query = target.indexOf('?')
	return {
		segments: segments ?? [],
		sent: segments?.length ? pathOf(url).replace(/\/$/, '').split('/').slice(-segments.length) : [],
		isPath: segments !== undefined,
		mount: undefined,
		depth: 0,
		...(segments === undefined ? undefined : mounts.find(segments)),
		prefix: routerPrefix(exchange.incoming),
		isBehindRouter: typeof originalUrl === 'string',
		url: (pathOf(target) || '/') + (query === -1 ? '' : target.slice(query)),
	}
}

/** Whether a handler is mounted at a path or below it. */
export function isAbove(segments: readonly string[], { path }: Pick<Mount, 'path'>): boolean {
	return path.length >= segments.length && segments.every((segment, at) => path[at] === segment)
}

/** Longer paths get no breadcrumbs: the size of their URLs would be quadratic. */
const MAX_CRUMBS = 24

export function crumbsOf(mounts: MountTree, place: Place): Crumb[] {
	const { segments, sent, isBehindRouter, prefix } = place
	const count = segments.length > MAX_CRUMBS ? 0 : segments.length
	return Array.from({ length: count + 1 }, (_, length) => {
		const path = segments.slice(0, length)
		const url = prefix + sent.slice(0, length).map(encodedSegment).join('') || '/'
		const mounted = mounts.find(path)
		const isOurs = !isBehindRouter || mounted !== undefined || (length === 0 && prefix !== '')
		const isPage =
			mounts.all.some((mount) => isAbove(path, mount)) ||
			(mounted !== undefined && methodsOf(mounted.mount, path, mounted.depth).includes('GET'))
		return { text: path.at(-1) ?? '', url: isOurs && isPage ? url : undefined }
	})
}

/** Encodes a segment again, value by value: a comma separates the values of an id, and is encoded within one. */
function encodedSegment(sent: string): string {
	const values = sent.split(',').map((value) => encodeURIComponent(decodeURIComponent(value)))
	return `/${values.join()}`
}

/** Looks up the action of another method at the same path, without changing the exchange's params. */
export function actionAt(
	exchange: Exchange,
	{ mount, segments, depth }: Place,
	method: Parameters<typeof findAction>[2],
): ReturnType<typeof findAction> {
	if (mount === undefined) return undefined
	const { params } = exchange
	try {
		return findAction(exchange, mount, method, segments, depth)
	} finally {
		exchange.params = params
	}
}
