/**
 * What the operations of a `CrudHandler` return: `CrudRecord` and `CrudPage`, the database's JSON text with what the
 * answer's headers are made of, and `stripObject` applied to them. Fields that `needs()` has named come from the model in
 * one text with the client's; they are split off here, so that none of them gets into the answer.
 */

import type { PageMeta } from '../wire/list.ts'
import { RawJson } from '../wire/raw-json.ts'
import type { CrudField } from './fields.ts'
import { type CrudView, FACTS, STATE } from './view.ts'

/** Values by the names of clients. */
export type Needed = Readonly<Record<string, unknown>>

/** What a handler's `stripObject` makes of a value. */
type Strip = (value: unknown) => unknown

const NOTHING: Needed = Object.freeze({})
const NONE: readonly Needed[] = Object.freeze([])
const STRIP: unique symbol = Symbol('verbena.strip')

/** JSON text of records, and what `with()` keeps of it. Within another value it is written through `stripObject`. */
class RecordJson<N> extends RawJson {
	readonly #needed: N
	readonly #strip: Strip | undefined

	constructor(text: string, needed: N, strip: Strip | undefined) {
		super(text)
		this.#needed = needed
		this.#strip = strip
	}

	/** The fields that `needs()` has named, answered only where the client asked for them; of a page one object a record. */
	get needed(): N {
		return this.#needed
	}

	/** @internal */
	get [STRIP](): Strip | undefined {
		return this.#strip
	}

	override toJSON(): unknown {
		return this.#strip === undefined ? this.value() : this.#strip(this.value())
	}
}

/** One record. */
export class CrudRecord extends RecordJson<Needed> {
	readonly #id: string
	readonly #version: string | undefined

	/** @param strip what is written of its value within another one */
	constructor(
		text: string,
		id: string,
		version: string | undefined,
		needed: Needed = NOTHING,
		strip?: (value: unknown) => unknown,
	) {
		super(text, needed, strip)
		this.#id = id
		this.#version = version
	}

	/** Its key, as in a URL. */
	get id(): string {
		return this.#id
	}

	/** Its version in digits, for its ETag; `undefined` where there is none. */
	get version(): string | undefined {
		return this.#version
	}

	/** Another value in its place, with the same ETag and Location. */
	with(value: unknown): CrudRecord {
		return recordWith(this, textOf(value))
	}
}

/** A page of records. */
export class CrudPage extends RecordJson<readonly Needed[]> {
	readonly #meta: PageMeta

	/** @param strip what is written of its value within another one */
	constructor(
		text: string,
		meta: PageMeta,
		needed: readonly Needed[] = NONE,
		strip?: (value: unknown) => unknown,
	) {
		super(text, needed, strip)
		this.#meta = meta
	}

	get meta(): PageMeta {
		return this.#meta
	}

	/** Other records in their place, with the same `meta`. */
	with(value: unknown): CrudPage {
		return pageWith(this, textOf(value))
	}
}

// Outside of the classes: a bundler renames a class that refers to itself, and its name is shown.
function recordWith(record: CrudRecord, text: string): CrudRecord {
	return new CrudRecord(text, record.id, record.version, record.needed, record[STRIP])
}

function pageWith(page: CrudPage, text: string): CrudPage {
	return new CrudPage(text, page.meta, page.needed, page[STRIP])
}

function textOf(value: unknown): string {
	if (value instanceof RawJson) return value.text
	const text: string | undefined = JSON.stringify(value)
	if (text === undefined) throw new TypeError(`a ${typeof value} can't be answered: JSON has no such value`)
	return text
}

/** The record of a text that the model returned for this request. */
export function recordOf(view: CrudView, id: string, json: string, version: string | undefined): CrudRecord {
	const { selection, needed } = view[STATE]
	if (needed.length === 0) return new CrudRecord(json, id, version, NOTHING, stripOf(view))
	const split = splitNeeded(json, selection.names, namesOf(needed))
	return new CrudRecord(split.json, id, version, split.needed[0], stripOf(view))
}

/** The page of a text that the model returned. @param asked names of the fields that the client asked for */
export function pageOf(view: CrudView, json: string, meta: PageMeta, asked: readonly string[]): CrudPage {
	const { needed } = view[STATE]
	if (needed.length === 0) return new CrudPage(json, meta, NONE, stripOf(view))
	const split = splitNeeded(json, asked, namesOf(needed))
	return new CrudPage(split.json, meta, split.needed, stripOf(view))
}

function namesOf(fields: readonly CrudField[]): string[] {
	return fields.map(({ name }) => name)
}

function stripOf(view: CrudView): Strip | undefined {
	return view[FACTS].isStripped ? (value) => stripRecords(view, value) : undefined
}

/** What the subclass's `stripObject` makes of a record or of each record of a list; other values stay as they are. */
export function stripRecords(view: CrudView, value: unknown): unknown {
	return Array.isArray(value) ? value.map((one) => stripRecord(view, one)) : stripRecord(view, value)
}

function stripRecord(view: CrudView, value: unknown): unknown {
	if (!isRecord(value)) return value
	const answer = view.stripObject(value)
	if (!(answer instanceof Promise)) return answer
	// Its rejection is handled, as an unhandled one would end the process.
	answer.catch(() => {})
	throw new TypeError(`${view[FACTS].plan.owner}.stripObject() must answer at once, not by a promise`)
}

function isRecord(value: unknown): value is Record<string, unknown> {
	if (typeof value !== 'object' || value === null) return false
	const prototype: unknown = Object.getPrototypeOf(value)
	return prototype === Object.prototype || prototype === null
}

/**
 * Splits what a model returned into the fields that the client asked for and those that `needs()` named. By names, never
 * by position: a record may lack fields, such as those of a dropped column.
 *
 * @param json a record, or an array of records
 * @param asked names that the client asked for: members with other names are left out of `json`
 * @param names the needed names, among `asked` or not
 */
export function splitNeeded(
	json: string,
	asked: readonly string[],
	names: readonly string[],
): { json: string; needed: readonly Needed[] } {
	const clients = new Set(asked)
	const needed: Needed[] = []
	let text = ''
	let from = 0
	eachRecord(json, (marks, end) => {
		const [begin = 0] = marks
		// A record is an object.
		const whole = JSON.parse(json.slice(begin, end)) as Record<string, unknown>
		needed.push(
			Object.fromEntries(
				names.filter((name) => Object.hasOwn(whole, name)).map((name) => [name, whole[name]]),
			),
		)
		text += json.slice(from, begin + 1) + membersOf(json, marks, clients)
		from = end - 1
	})
	return { json: text + json.slice(from), needed }
}

/** The text of the members with these names; neighbours are copied in one piece. */
function membersOf(json: string, marks: readonly number[], names: ReadonlySet<string>): string {
	let text = ''
	let before = marks[0] ?? 0
	let from: number | undefined
	const take = (to: number) => {
		if (from === undefined) return
		text += `${text === '' ? '' : ','}${json.slice(from, to)}`
		from = undefined
	}
	for (let at = 1; at < marks.length; at++) {
		const after = marks[at] ?? json.length
		if (names.has(nameOf(json, before, after))) from ??= before + 1
		else take(before)
		before = after
	}
	take(before)
	return text
}

/** The name of the member between two marks; `''` where there is none, as in `{}`. */
function nameOf(json: string, before: number, after: number): string {
	const start = json.indexOf('"', before)
	if (start < 0 || start > after) return ''
	const end = endOfString(json, start)
	const name = json.slice(start + 1, end)
	return name.includes('\\') ? String(JSON.parse(json.slice(start, end + 1))) : name
}

/**
 * Calls `found` for each record with the positions of its opening brace, of the commas between its members and of its
 * closing brace, and with the position after it.
 */
function eachRecord(json: string, found: (marks: readonly number[], end: number) => void): void {
	const level = json.trimStart().startsWith('[') ? 2 : 1
	let depth = 0
	let marks: number[] = []
	for (let at = 0; at < json.length; at++) {
		const char = json[at]
		if (char === '"') at = endOfString(json, at)
		else if (char === '{' || char === '[') {
			if (++depth === level) marks = [at]
		} else if (char === '}' || char === ']') {
			if (depth-- !== level) continue
			marks.push(at)
			found(marks, at + 1)
		} else if (char === ',' && depth === level) marks.push(at)
	}
}

/** The position of the quote that ends the string which begins at `start`. */
function endOfString(json: string, start: number): number {
	for (let at = start + 1; at < json.length; at++) {
		const char = json[at]
		if (char === '\\') at++
		else if (char === '"') return at
	}
	return json.length
}
