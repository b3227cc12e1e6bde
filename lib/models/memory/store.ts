/**
 * `Store`: what a `MemoryModel` is made of, and what never changes of it: its fields, its key, its constraints,
 * and the layer of records that counts.
 */

import type { Field } from '../model.ts'
import { comparisonOf } from './compare.ts'
import type { OwnField } from './declared.ts'
import { Layer } from './layer.ts'
import type { Stored } from './stored.ts'

const NUMBERS: ReadonlySet<string> = new Set(['integer', 'bigint'])

/** A field whose values are keys of a store: of this one, or another. */
export interface Reference {
	readonly index: number
	readonly field: OwnField
	readonly store: Store
}

/** Fields whose values, taken together, only one record has. */
export interface Unique {
	readonly names: readonly string[]
	readonly indexes: readonly number[]
}

export class Store {
	readonly name: string
	readonly fields: readonly OwnField[]
	/** The fields as a model shows them. */
	readonly facts: readonly Field[]
	readonly key: OwnField
	readonly keyIndex: number
	readonly uniques: readonly Unique[]
	readonly references: Reference[] = []
	/** References of all stores to this one. */
	readonly referrers: { readonly from: Store; readonly index: number }[] = []
	readonly layer: Layer
	readonly #indexes: ReadonlyMap<string, number>
	#serial = 0n

	constructor(
		name: string,
		fields: readonly OwnField[],
		key: string,
		uniques: readonly (readonly string[])[],
	) {
		this.name = name
		this.fields = fields
		this.facts = fields.map(({ initial: _, ...field }) => Object.freeze(field))
		this.#indexes = new Map(fields.map((field, index) => [field.name, index]))
		this.key = this.field(key)
		this.keyIndex = this.indexOf(key)
		this.uniques = uniques.map((names) => ({ names, indexes: names.map((each) => this.indexOf(each)) }))
		const { keyIndex } = this
		const compare = comparisonOf(this.key.type)
		this.layer = new Layer((a, b) => compare(a[keyIndex] ?? null, b[keyIndex] ?? null))
	}

	has(name: string): boolean {
		return this.#indexes.has(name)
	}

	/** @throws TypeError when there is no such field */
	indexOf(name: string): number {
		const index = this.#indexes.get(name)
		if (index === undefined) throw new TypeError(`${this.name} has no field ${name}`)
		return index
	}

	/** @throws TypeError when there is no such field */
	field(name: string): OwnField {
		const field = this.fields[this.indexOf(name)]
		if (field === undefined) throw new TypeError(`${this.name} has no field ${name}`)
		return field
	}

	/** @throws TypeError when there is no such field, or it is of another type than the key that it refers to */
	refer(name: string, store: Store): void {
		const index = this.indexOf(name)
		const [own, other] = [this.field(name).type, store.key.type]
		if (own !== other && !(NUMBERS.has(own) && NUMBERS.has(other))) {
			throw new TypeError(`${this.name}: ${name} is ${own}, but the key that it refers to is ${other}`)
		}
		this.references.push({ index, field: this.field(name), store })
		store.referrers.push({ from: this, index })
	}

	/** The next serial number. As in a database, one that was drawn is gone, also when its record isn't kept. */
	serial(): bigint {
		this.#serial += 1n
		return this.#serial
	}

	/** Takes note of a key that was given: later serial numbers are above it. */
	seen(key: Stored): void {
		if (typeof key !== 'number' && typeof key !== 'bigint') return
		const number = BigInt(key)
		if (number > this.#serial) this.#serial = number
	}
}
