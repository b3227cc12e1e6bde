/** What `CrudHandler`'s own operations answer: the model's JSON text, with what the answer's headers are made of. */

import { RawJson } from '../wire/json.ts'
import type { PageMeta } from '../wire/list.ts'
import { type Needed, neededOf, UNPARTED } from './needed.ts'

/** What a handler's `stripObject` makes of a value. */
type Strip = (value: unknown) => unknown

/** One record. */
export class CrudRecord extends RawJson {
	readonly #id: string
	readonly #version: string | undefined
	readonly #needed: Needed
	readonly #strip: Strip | undefined

	/** @param strip what is written of its value within another one */
	constructor(
		text: string,
		id: string,
		version: string | undefined,
		needed: Needed = neededOf([]),
		strip?: (value: unknown) => unknown,
	) {
		super(text)
		this.#id = id
		this.#version = version
		this.#needed = needed
		this.#strip = strip
	}

	/** Its key, as in a URL. */
	get id(): string {
		return this.#id
	}

	/** Its version in digits, for its ETag; `undefined` where there is none. */
	get version(): string | undefined {
		return this.#version
	}

	/** The fields that `needs()` has named, which are answered only where the client has asked for them. */
	get needed(): Needed {
		return this.#needed
	}

	/** Another value in its place, with the same ETag and Location. */
	with(value: unknown): CrudRecord {
		return recordOf(value, this, this.#strip)
	}

	override toJSON(): unknown {
		return this.#strip === undefined ? this.value() : this.#strip(this.value())
	}
}

/** A page of records. */
export class CrudPage extends RawJson {
	readonly #meta: PageMeta
	readonly #needed: readonly Needed[]
	readonly #strip: Strip | undefined

	/** @param strip what is written of its value within another one */
	constructor(
		text: string,
		meta: PageMeta,
		needed: readonly Needed[] = UNPARTED,
		strip?: (value: unknown) => unknown,
	) {
		super(text)
		this.#meta = meta
		this.#needed = needed
		this.#strip = strip
	}

	get meta(): PageMeta {
		return this.#meta
	}

	/** Of each record the fields that `needs()` has named; empty where it has named none. */
	get needed(): readonly Needed[] {
		return this.#needed
	}

	/** Other records in their place, with the same `meta`. */
	with(value: unknown): CrudPage {
		return pageOf(value, this, this.#strip)
	}

	override toJSON(): unknown {
		return this.#strip === undefined ? this.value() : this.#strip(this.value())
	}
}

// Not within the classes: one that names itself is called something else where it is bundled.
function recordOf(value: unknown, { id, version, needed }: CrudRecord, strip: Strip | undefined): CrudRecord {
	return new CrudRecord(textOf(value), id, version, needed, strip)
}

function pageOf(value: unknown, { meta, needed }: CrudPage, strip: Strip | undefined): CrudPage {
	return new CrudPage(textOf(value), meta, needed, strip)
}

function textOf(value: unknown): string {
	if (value instanceof RawJson) return value.text
	const text: string | undefined = JSON.stringify(value)
	if (text === undefined) throw new TypeError(`a ${typeof value} can't be answered: JSON has no such value`)
	return text
}
