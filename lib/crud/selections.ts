/** `Selections`: what of a record is answered. One object for each set of fields, so that models can prepare for it. */

import type { Selection } from '../models/model.ts'
import type { CrudField } from './field.ts'

/** Sets of fields that are kept, and that are remembered of those asked for once; clients choose among any number. */
const MOST = 100

export class Selections {
	/** All visible fields. */
	readonly all: Selection
	readonly #visible: readonly CrudField[]
	readonly #version: string | undefined
	/** Narrower and wider selections, by their names; the one used longest ago goes first. */
	readonly #others = new Map<string, Selection>()
	/** Names of those that were asked for once. */
	readonly #once = new Set<string>()

	constructor(visible: readonly CrudField[], version: CrudField | undefined) {
		this.#visible = visible
		this.#version = version?.field.name
		this.all = this.#selection(visible)
	}

	/** The visible fields that are named, in the order of `visible`. */
	of(names: ReadonlySet<string>): Selection {
		const chosen = this.#visible.filter(({ name }) => names.has(name))
		if (chosen.length === this.#visible.length) return this.all
		const key = JSON.stringify(chosen.map(({ name }) => name))
		return this.#kept(key, () => this.#selection(chosen))
	}

	/** A selection with more fields behind its own; itself where it has them all. */
	wider(selection: Selection, needed: readonly CrudField[]): Selection {
		const more = needed.filter(({ name }) => !selection.names.includes(name))
		if (more.length === 0) return selection
		const key = JSON.stringify([selection.names, more.map(({ name }) => name)])
		return this.#kept(key, () =>
			Object.freeze({
				...selection,
				fields: [...selection.fields, ...more.map(({ field }) => field.name)],
				names: [...selection.names, ...more.map(({ name }) => name)],
			}),
		)
	}

	#kept(key: string, make: () => Selection): Selection {
		const known = this.#others.get(key)
		const selection = known ?? make()
		if (known !== undefined) this.#others.delete(key)
		else if (!this.#once.delete(key)) {
			this.#once.add(key)
			cut(this.#once)
			return selection
		}
		this.#others.set(key, selection)
		cut(this.#others)
		return selection
	}

	#selection(fields: readonly CrudField[]): Selection {
		return Object.freeze({
			fields: fields.map(({ field }) => field.name),
			names: fields.map(({ name }) => name),
			version: this.#version,
		})
	}
}

/** Takes the first away where there are too many. */
function cut(kept: Map<string, unknown> | Set<string>): void {
	if (kept.size <= MOST) return
	for (const first of kept.keys()) {
		kept.delete(first)
		return
	}
}
