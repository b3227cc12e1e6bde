/**
 * The templates at one place of the trie, `%s-a1`, `%s-a2`, …, indexed so that a segment finds those it matches without
 * trying the others.
 *
 * A template is read from its end: the text after its last placeholder, the text before that, and so on; templates that end
 * alike share the path. A text between two placeholders counts only at its rightmost occurrence, which leaves the most room
 * to what comes before, so that each `Stage` is visited at most once: the cost is the segment's length times the stages
 * that it reaches.
 */
import { LiteralTable, roll } from './literals.ts'
import type { Shape, Template } from './pattern.ts'
import { fitsShape } from './segment.ts'

/**
 * The value of a template. It is the same object as the stage that the template ends at: one object less to read keeps more
 * of them in the processor's cache.
 */
export interface Entry<V> {
	value: V | undefined
	/** The next template that the segment matches; valid until the next call of `matching`. */
	readonly next: Entry<V> | undefined
}

/** A state in which the rest of the segment ends with a placeholder. */
class Stage<V> implements Entry<V> {
	/** The last round of the index that visited it. */
	round = 0
	/** The shape of the template whose placeholder takes all the rest. */
	shape: Shape | undefined
	value: V | undefined
	/** Whether numbers are still to be checked: the index compares only texts. */
	strict = false
	next: Stage<V> | undefined
	/** The next template with the same texts and other kinds of placeholders. */
	twin: Stage<V> | undefined
	/** By the text at the start, before the first placeholder. */
	firsts: LiteralTable<Stage<V>> | undefined
	/** By the text between this placeholder and the one before it. */
	inners: LiteralTable<Stage<V>> | undefined
}

export class TemplateIndex<V> {
	/** The stage of templates that end with a placeholder. */
	readonly #start: Stage<V> = new Stage()
	readonly #lasts: LiteralTable<Stage<V>> = new LiteralTable('backward')
	#round = 0
	#found: Stage<V> | undefined

	/** The entry of a template, created where there is none. */
	obtain(template: Template): Entry<V> {
		const { prefix, suffix, shape } = template
		let stage = suffix === '' ? this.#start : stageAt(this.#lasts, suffix)
		for (let inner = shape.inner; inner !== undefined; inner = inner.left) {
			stage.inners ??= new LiteralTable('backward')
			stage = stageAt(stage.inners, inner.text)
		}
		if (prefix === '') return entryAt(stage, shape)
		stage.firsts ??= new LiteralTable('forward')
		return entryAt(stageAt(stage.firsts, prefix), shape)
	}

	/** The templates that a segment matches, in no order, linked by `next`. */
	matching(text: string): Entry<V> | undefined {
		this.#found = undefined
		this.#round++
		this.#visit(this.#start, text, text.length)
		let hash = 0
		const longest = Math.min(this.#lasts.longest, text.length - 1)
		for (let length = 1; length <= longest; length++) {
			const start = text.length - length
			hash = roll(hash, text.charCodeAt(start))
			if (!this.#lasts.hasLength(length)) continue
			const stage = this.#lasts.probe(hash, text, start, length)
			if (stage !== undefined) this.#visit(stage, text, start)
		}
		return this.#found
	}

	/** Collects the templates of a stage whose placeholder ends at `end` and isn't empty. */
	#visit(stage: Stage<V>, text: string, end: number): void {
		if (end < 1) return
		stage.round = this.#round
		this.#meet(stage, text)
		if (stage.firsts !== undefined) this.#meetFirsts(stage.firsts, text, end - 1)
		if (stage.inners !== undefined) this.#seek(stage.inners, text, end - 1)
	}

	/** Collects the templates that begin with a text of at most `most` characters. */
	#meetFirsts(firsts: LiteralTable<Stage<V>>, text: string, most: number): void {
		let hash = 0
		const longest = Math.min(firsts.longest, most)
		for (let length = 1; length <= longest; length++) {
			hash = roll(hash, text.charCodeAt(length - 1))
			if (firsts.hasLength(length)) this.#meet(firsts.probe(hash, text, 0, length), text)
		}
	}

	/** Searches right to left for texts that end at or before `end`, and continues from each. */
	#seek(inners: LiteralTable<Stage<V>>, text: string, end: number): void {
		let unseen = inners.size
		for (let stop = end; stop > 1 && unseen > 0; stop--) {
			if (!inners.mayBegin(text.charCodeAt(stop - 1))) continue
			let hash = 0
			const longest = Math.min(inners.longest, stop - 1)
			for (let length = 1; length <= longest; length++) {
				const start = stop - length
				hash = roll(hash, text.charCodeAt(start))
				if (!inners.hasLength(length)) continue
				const stage = inners.probe(hash, text, start, length)
				if (stage === undefined || stage.round === this.#round) continue
				unseen--
				this.#visit(stage, text, start)
			}
		}
	}

	#meet(stage: Stage<V> | undefined, text: string): void {
		for (let entry = stage; entry?.shape !== undefined; entry = entry.twin) {
			if (entry.strict && !fitsShape(entry.shape, text)) continue
			entry.next = this.#found
			this.#found = entry
		}
	}
}

/** The entry of a shape at a stage. */
function entryAt<V>(stage: Stage<V>, shape: Shape): Entry<V> {
	let entry = stage
	while (entry.shape !== undefined) {
		if (entry.shape.kinds.every((kind, at) => kind === shape.kinds[at])) return entry
		entry.twin ??= new Stage()
		entry = entry.twin
	}
	entry.shape = shape
	entry.strict = shape.kinds.includes('number')
	return entry
}

function stageAt<V>(table: LiteralTable<Stage<V>>, text: string): Stage<V> {
	const known = table.get(text)
	if (known !== undefined) return known
	const made = new Stage<V>()
	table.set(text, made)
	return made
}
