/** What `CrudHandler`'s own operations answer: the model's JSON text, with what the answer's headers are made of. */
import type { PageMeta } from '../wire/list.ts'
import { RawJson } from '../wire/raw-json.ts'
import { type Needed, neededOf, UNPARTED } from './needed.ts'

/** One record. */
export class CrudRecord extends RawJson {
	/** Its key, as in a URL. */
	readonly id: string
	/** Its version in digits, for its ETag; `undefined` where there is none. */
	readonly version: string | undefined
	/** The fields that `needs()` has named, which are answered only where the client has asked for them. */
	readonly needed: Needed

	constructor(text: string, id: string, version: string | undefined, needed: Needed = neededOf([])) {
		super(text)
		this.needed = needed
		this.id = id
		this.version = version
	}

	/** Another value in its place, with the same ETag and Location. */
	with(value: unknown): CrudRecord {
		return recordOf(value, this)
	}
}

/** A page of records. */
export class CrudPage extends RawJson {
	readonly meta: PageMeta
	/** Of each record the fields that `needs()` has named; empty where it has named none. */
	readonly needed: readonly Needed[]

	constructor(text: string, meta: PageMeta, needed: readonly Needed[] = UNPARTED) {
		super(text)
		this.needed = needed
		this.meta = meta
	}

	/** Other records in their place, with the same `meta`. */
	with(value: unknown): CrudPage {
		return pageOf(value, this)
	}
}

// Not within the classes: one that names itself is called something else where it is bundled.
function recordOf(value: unknown, { id, version, needed }: CrudRecord): CrudRecord {
	return new CrudRecord(textOf(value), id, version, needed)
}

function pageOf(value: unknown, { meta, needed }: CrudPage): CrudPage {
	return new CrudPage(textOf(value), meta, needed)
}

function textOf(value: unknown): string {
	if (value instanceof RawJson) return value.text
	const text: string | undefined = JSON.stringify(value)
	if (text === undefined) throw new TypeError(`a ${typeof value} can't be answered: JSON has no such value`)
	return text
}
