/**
 * An index of the templates in one branch of the trie, `%s-a1`, `%s-a2`, …, which finds those that match a segment without
 * trying the others.
 *
 * It is an automaton that reads templates from their end: the suffix, the last infix, and so on; templates with the same end
 * share their states. Only the rightmost occurrence of an infix counts, which leaves the most room to its left, so that each
 * `State` is visited at most once: the cost is the segment's length times the number of states that it reaches.
 */
import { LiteralTable, roll } from './literals.ts'
import type { Shape, Template } from './pattern.ts'
import { matchesShape } from './segment.ts'

/** The value of a template. The template's final state implements it: one object less saves processor cache. */
export interface Entry<V> {
	value: V | undefined
	/** The next template that the segment matches; valid until the next call of `matching`. */
	readonly next: Entry<V> | undefined
}

/** A state of the automaton: the unread rest of the segment ends with a placeholder. */
class State<V> implements Entry<V> {
	/** The last search that visited it. */
	visitedBy = 0
	/** In a final state, the shape of its template, whose first placeholder takes all the rest. */
	shape: Shape | undefined
	value: V | undefined
	/** Whether the template has numbers, which the index doesn't check. */
	hasNumbers = false
	next: State<V> | undefined
	/** The state of another template with the same literals and other kinds of placeholders. */
	sibling: State<V> | undefined
	/** The next states by prefix: the text before the first placeholder. */
	prefixes: LiteralTable<State<V>> | undefined
	/** The next states by infix: the text between this placeholder and the one before it. */
	infixes: LiteralTable<State<V>> | undefined
}

export class TemplateIndex<V> {
	/** The state of templates without a suffix. */
	readonly #start: State<V> = new State()
	readonly #suffixes: LiteralTable<State<V>> = new LiteralTable('backward')
	#searches = 0
	#found: State<V> | undefined

	/** The entry of a template, created if there is none. */
	entry(template: Template): Entry<V> {
		const { prefix, suffix, shape } = template
		let state = suffix === '' ? this.#start : stateAt(this.#suffixes, suffix)
		for (let { infix } = shape; infix !== undefined; infix = infix.left) {
			state.infixes ??= new LiteralTable('backward')
			state = stateAt(state.infixes, infix.text)
		}
		if (prefix === '') return finalState(state, shape)
		state.prefixes ??= new LiteralTable('forward')
		return finalState(stateAt(state.prefixes, prefix), shape)
	}

	/** The templates that match a segment, unordered, linked by `next`. */
	matching(text: string): Entry<V> | undefined {
		this.#found = undefined
		this.#searches++
		this.#visit(this.#start, text, text.length)
		let hash = 0
		const maxLength = Math.min(this.#suffixes.maxLength, text.length - 1)
		for (let length = 1; length <= maxLength; length++) {
			const start = text.length - length
			hash = roll(hash, text.charCodeAt(start))
			if (!this.#suffixes.mayHaveLength(length)) continue
			const state = this.#suffixes.probe(hash, text, start, length)
			if (state !== undefined) this.#visit(state, text, start)
		}
		return this.#found
	}

	/** Visits a state whose placeholder ends at `end`: collects its templates, unless the placeholder is empty. */
	#visit(state: State<V>, text: string, end: number): void {
		if (end < 1) return
		state.visitedBy = this.#searches
		this.#collect(state, text)
		if (state.prefixes !== undefined) this.#matchPrefixes(state.prefixes, text, end - 1)
		if (state.infixes !== undefined) this.#matchInfixes(state.infixes, text, end - 1)
	}

	/** Collects the templates with a matching prefix that ends at or before `end`. */
	#matchPrefixes(prefixes: LiteralTable<State<V>>, text: string, end: number): void {
		let hash = 0
		const maxLength = Math.min(prefixes.maxLength, end)
		for (let length = 1; length <= maxLength; length++) {
			hash = roll(hash, text.charCodeAt(length - 1))
			if (prefixes.mayHaveLength(length)) this.#collect(prefixes.probe(hash, text, 0, length), text)
		}
	}

	/** Searches from right to left for infixes that end at or before `end`, and visits their states. */
	#matchInfixes(infixes: LiteralTable<State<V>>, text: string, end: number): void {
		let unvisited = infixes.size
		for (let stop = end; stop > 1 && unvisited > 0; stop--) {
			if (!infixes.mayBegin(text.charCodeAt(stop - 1))) continue
			let hash = 0
			const maxLength = Math.min(infixes.maxLength, stop - 1)
			for (let length = 1; length <= maxLength; length++) {
				const start = stop - length
				hash = roll(hash, text.charCodeAt(start))
				if (!infixes.mayHaveLength(length)) continue
				const state = infixes.probe(hash, text, start, length)
				if (state === undefined || state.visitedBy === this.#searches) continue
				unvisited--
				this.#visit(state, text, start)
			}
		}
	}

	#collect(state: State<V> | undefined, text: string): void {
		for (let entry = state; entry?.shape !== undefined; entry = entry.sibling) {
			if (entry.hasNumbers && !matchesShape(entry.shape, text)) continue
			entry.next = this.#found
			this.#found = entry
		}
	}
}

/** The state or sibling for the kinds of a shape's placeholders. */
function finalState<V>(state: State<V>, shape: Shape): Entry<V> {
	let entry = state
	while (entry.shape !== undefined) {
		if (entry.shape.kinds.every((kind, at) => kind === shape.kinds[at])) return entry
		entry.sibling ??= new State()
		entry = entry.sibling
	}
	entry.shape = shape
	entry.hasNumbers = shape.kinds.includes('number')
	return entry
}

function stateAt<V>(table: LiteralTable<State<V>>, text: string): State<V> {
	const existing = table.get(text)
	if (existing !== undefined) return existing
	const created = new State<V>()
	table.set(text, created)
	return created
}
