/** Where a request leads: its path among the mounts, and the URLs around it. */
import type { Exchange } from '../exchange/exchange.ts'
import { pathOf, routerPrefix } from '../reply/link.ts'
import { parseTarget } from '../request/url.ts'
import { findAction, type Mount, type MountTree, methodsOf } from '../routing/routing.ts'
import type { Crumb } from './page-data.ts'

export interface Place {
	/** Decoded segments; none for the root, and for a target that is no path. */
	readonly segments: readonly string[]
	/** Whether the target is a path at all. */
	readonly isPath: boolean
	readonly mount: Mount | undefined
	/** How many of the segments lead to the mount. */
	readonly depth: number
	/** What a router in front has cut off, `/api` in Express; mostly empty. */
	readonly prefix: string
	/** Whether a router in front serves other paths. */
	readonly isBehind: boolean
	/** Path and query as the client sent them. */
	readonly url: string
}

export function placeOf(exchange: Exchange, mounts: MountTree): Place {
	const { url = '/', originalUrl } = exchange.incoming
	const target = exchange.target()
	const segments = segmentsOf(url)
	const query = target.indexOf('?')
	return {
		segments: segments ?? [],
		isPath: segments !== undefined,
		mount: undefined,
		depth: 0,
		...(segments === undefined ? undefined : mounts.find(segments)),
		prefix: routerPrefix(exchange.incoming),
		isBehind: typeof originalUrl === 'string',
		url: (pathOf(target) || '/') + (query === -1 ? '' : target.slice(query)),
	}
}

function segmentsOf(url: string): readonly string[] | undefined {
	try {
		return parseTarget(url).segments
	} catch {
		return undefined
	}
}

/** Whether handlers are mounted at a path, or below it. */
export function isAbove(segments: readonly string[], { path }: Pick<Mount, 'path'>): boolean {
	return path.length >= segments.length && segments.every((segment, at) => path[at] === segment)
}

/** Longer paths get no breadcrumbs: the URL of each would be as long as the path itself. */
const MOST_CRUMBS = 24

/** The breadcrumbs: from the root to this page. */
export function crumbsOf(mounts: MountTree, place: Place): Crumb[] {
	const { segments, isBehind, prefix } = place
	const most = segments.length > MOST_CRUMBS ? 0 : segments.length
	return Array.from({ length: most + 1 }, (_, length) => {
		const path = segments.slice(0, length)
		const url = prefix + path.map((segment) => `/${encodeURIComponent(segment)}`).join('') || '/'
		const mounted = mounts.find(path)
		const isOurs = !isBehind || mounted !== undefined || (length === 0 && prefix !== '')
		const isPage =
			mounts.all.some((mount) => isAbove(path, mount)) ||
			(mounted !== undefined && methodsOf(mounted.mount, path, mounted.depth).includes('GET'))
		return { text: path.at(-1) ?? '', url: isOurs && isPage ? url : undefined }
	})
}

/** The action of another method at the same path; leaves the exchange as it is. */
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
