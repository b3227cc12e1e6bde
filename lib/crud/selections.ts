/** `Selections`: what of a record is answered. One object for each set of fields, so that models can prepare for it. */
import type { CrudField } from './crud-field.ts'
import type { Selection } from './model.ts'

/** Sets of fields that are remembered; a client can ask for more of them than anybody could keep. */
const MOST = 100

export class Selections {
	/** All visible fields. */
	readonly all: Selection
	readonly #visible: readonly CrudField[]
	readonly #version: string | undefined
	/** Narrower selections, by their names; the oldest goes first. */
	readonly #narrow = new Map<string, Selection>()

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
		let selection = this.#narrow.get(key)
		if (selection === undefined) {
			selection = this.#selection(chosen)
			const [oldest] = this.#narrow.keys()
			if (this.#narrow.size >= MOST && oldest !== undefined) this.#narrow.delete(oldest)
			this.#narrow.set(key, selection)
		}
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
