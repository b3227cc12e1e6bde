/** Remembers the specs that a method passes again and again, so that they are read once. */
import { type CompiledSpec, compileSpec, type Spec } from './params.ts'
import { isStandardSchema } from './standard-schema.ts'
import type { Validator } from './validator.ts'

/** How many specs one method may take turns with. */
const PLACES = 4

/**
 * The last specs of one method, by identity. A spec that is written inline is a new object at each call:
 * it costs four comparisons here, and is then read where it is used.
 */
export class SpecMemo {
	readonly #seen: (Spec | undefined)[] = Array.from({ length: PLACES })
	readonly #compiled: (CompiledSpec | undefined)[] = Array.from({ length: PLACES })
	#next = 0

	/**
	 * The compiled form of a spec that was seen before. It is frozen then: a change that would not count
	 * any more throws instead.
	 *
	 * @throws TypeError when the spec is wrong
	 */
	compiled(spec: Spec, validator: Validator | undefined): CompiledSpec | undefined {
		const place = this.#seen.indexOf(spec)
		if (place === -1) {
			this.#seen[this.#next] = spec
			this.#compiled[this.#next] = undefined
			this.#next = (this.#next + 1) % PLACES
			return undefined
		}
		const before = this.#compiled[place]
		if (before !== undefined) return before
		const compiled = compileSpec(spec, validator)
		freeze(spec)
		this.#compiled[place] = compiled
		return compiled
	}
}

/** Freezes what is declared; schemas, patterns and functions are their owners'. */
function freeze(value: unknown): void {
	if (typeof value !== 'object' || value === null || Object.isFrozen(value) || isStandardSchema(value)) return
	const prototype: unknown = Object.getPrototypeOf(value)
	if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) return
	Object.freeze(value)
	for (const inner of Object.values(value)) freeze(inner)
}
