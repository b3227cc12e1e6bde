/** Where a request leads: its path among the mounts, and the URLs of what is around it. */

import type { Exchange } from '../exchange/exchange.ts'
import { pathOf } from '../reply/link.ts'
import { parseTarget } from '../request/url.ts'
import { findAction, methodsOf } from '../routing/find-action.ts'
import type { Mount, MountTree } from '../routing/mount.ts'
import type { Crumb } from './page-data.ts'

export interface Place {
	/** Decoded segments; none of the root, and of what is no path. */
	readonly segments: readonly string[]
	/** Whether the target is a path at all. */
	readonly isPath: boolean
	readonly mount: Mount | undefined
	/** How many of the segments lead to the mount. */
	readonly depth: number
	/** What a router in front has cut off: `/api` of Express; nothing mostly. */
	readonly outside: string
	/** Whether what we don't serve is somebody else's. */
	readonly isBehind: boolean
	/** Path and query as the client sent them. */
	readonly url: string
}

export function placeOf(exchange: Exchange, mounts: MountTree): Place {
	const { url = '/', originalUrl } = exchange.incoming
	const target = exchange.target()
	const own = pathOf(url)
	const whole = pathOf(target)
	const outside = whole.endsWith(own) ? whole.slice(0, whole.length - own.length) : ''
	const segments = segmentsOf(url)
	const query = target.indexOf('?')
	return {
		segments: segments ?? [],
		isPath: segments !== undefined,
		mount: undefined,
		depth: 0,
		...(segments === undefined ? undefined : mounts.find(segments)),
		outside,
		isBehind: typeof originalUrl === 'string',
		url: (whole || '/') + (query === -1 ? '' : target.slice(query)),
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

/** Longer paths have no way up: each step's URL would be as long as the path itself. */
const MOST_CRUMBS = 24

/** The way up. */
export function crumbsOf(mounts: MountTree, place: Place): Crumb[] {
	const { segments, isBehind, outside } = place
	const most = segments.length > MOST_CRUMBS ? 0 : segments.length
	return Array.from({ length: most + 1 }, (_, length) => {
		const path = segments.slice(0, length)
		const url = outside + path.map((segment) => `/${encodeURIComponent(segment)}`).join('') || '/'
		const mounted = mounts.find(path)
		const isOurs = !isBehind || mounted !== undefined || (length === 0 && outside !== '')
		const isPage =
			mounts.all.some((mount) => isAbove(path, mount)) ||
			(mounted !== undefined && methodsOf(mounted.mount, path, mounted.depth).includes('GET'))
		return { text: path.at(-1) ?? '', url: isOurs && isPage ? url : undefined }
	})
}

/** The action of another method at the same path; what the exchange knows stays as it is. */
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
