/** A mounted handler, compiled: everything that can be known before the first request. */
import type { Action } from '../action.ts'
import type { Exchange } from '../exchange.ts'
import type { LookupTable } from '../lookup.ts'
import type { RouteTable } from '../route.ts'
import type { MountFacts } from './facts.ts'

/** One handler at one path. */
export interface Mount extends MountFacts {
	/** Makes the `this` of one request. */
	readonly view: (exchange: Exchange) => object
	readonly routes: RouteTable<Action>
	readonly table: LookupTable
	/** While the handler's `init` runs, and for ever when it has failed. */
	setUp: Promise<void> | undefined
}

/** A mount that answers for a path, and how many of the path's segments lead to it. */
export interface Mounted {
	readonly mount: Mount
	readonly depth: number
}

/** Finds the mount for a path: a tree by segment, in which the longest handler path wins. */
export class MountTree {
	readonly #root: Node = new Node()

	/** Adds a mount; answers false when its path is taken. */
	add(mount: Mount): boolean {
		let node = this.#root
		for (const segment of mount.path) {
			const next: Node = node.children.get(segment) ?? new Node()
			node.children.set(segment, next)
			node = next
		}
		if (node.mounted !== undefined) return false
		node.mounted = { mount, depth: mount.path.length }
		return true
	}

	/** The mount with the longest path that the segments begin with. */
	find(segments: readonly string[]): Mounted | undefined {
		let node = this.#root
		let best = node.mounted
		for (let at = 0; at < segments.length; at++) {
			const next = node.children.get(segments[at] as string)
			if (next === undefined) break
			node = next
			best = node.mounted ?? best
		}
		return best
	}
}

class Node {
	readonly children = new Map<string, Node>()
	mounted: Mounted | undefined = undefined
}
