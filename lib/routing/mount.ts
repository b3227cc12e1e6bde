/** A mounted handler, compiled: everything that can be known before the first request. */
import type { Action } from '../exchange/action.ts'
import type { MountFacts } from '../exchange/exchange.ts'
import type { RouteTable } from './custom/custom-routes.ts'
import type { LookupTable } from './lookup.ts'
import type { Way } from './ways.ts'

/** One handler at one path. */
export interface Mount extends MountFacts {
	readonly routes: RouteTable<Action>
	readonly table: LookupTable
	/** All that lead to an action, for descriptions. */
	readonly ways: readonly Way[]
	/** While the handler's `init` runs, and for ever when it has failed. */
	setUp: Promise<void> | undefined
}

/** A mount that answers for a path, and how many of the path's segments lead to it. */
export interface Mounted {
	readonly mount: Mount
	readonly depth: number
}

/** Where a path leaves those of the mounts. */
export interface Unknown {
	/** Index of the segment. */
	readonly at: number
	/** What might stand there. */
	readonly others: Iterable<string>
}

/** Finds the mount for a path: a tree by segment, in which the longest handler path wins. */
export class MountTree {
	readonly #root: Node = new Node()
	readonly #all: Mount[] = []

	/** All mounts, in the order in which they were added. */
	get all(): readonly Mount[] {
		return this.#all
	}

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
		this.#all.push(mount)
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

	/** The first segment that leads to no handler, and those that would in its place; `undefined` where each does. */
	unknown(segments: readonly string[]): Unknown | undefined {
		let node = this.#root
		for (const [at, segment] of segments.entries()) {
			const next = node.children.get(segment)
			if (next === undefined) return { at, others: node.children.keys() }
			node = next
		}
		return undefined
	}
}

class Node {
	readonly children = new Map<string, Node>()
	mounted: Mounted | undefined = undefined
}
