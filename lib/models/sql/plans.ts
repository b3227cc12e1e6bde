/** `Plans`: a model's plans by selection, as far as there is room for them. Used by `sql-model.ts`. */
import type { Selection } from '../model.ts'
import type { Plan } from './plan.ts'
import type { Kept, Room } from './room.ts'

interface KeptPlan extends Kept {
	readonly plan: Plan
}

export class Plans {
	readonly #write: (selection: Selection) => Plan
	readonly #room: Room
	readonly #kept = new WeakMap<Selection, KeptPlan>()
	/** Selections that were asked for once: their plans aren't kept yet. */
	readonly #once = new WeakSet<Selection>()

	constructor(room: Room, write: (selection: Selection) => Plan) {
		this.#room = room
		this.#write = write
	}

	of(selection: Selection): Plan {
		const known = this.#kept.get(selection)
		if (known !== undefined) {
			this.#room.touch(known)
			return known.plan
		}
		const plan = this.#write(selection)
		if (!this.#once.has(selection)) {
			this.#once.add(selection)
			return plan
		}
		const kept: KeptPlan = {
			plan,
			bytes: plan.bytes,
			drop: () => this.#kept.delete(selection),
			older: undefined,
			newer: undefined,
		}
		if (this.#room.add(kept)) this.#kept.set(selection, kept)
		return plan
	}
}
