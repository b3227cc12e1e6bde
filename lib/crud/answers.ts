/**
 * Turns the results of a `CrudHandler`'s operations into answers. `CrudRecord` and `CrudPage` hold the database's JSON text and
 * the values for response headers. A page is sent with its `meta`, a record with its ETag; `stripObject` is applied to both.
 * Called by `operations.ts`, `reads.ts`, and by the handler for its other methods.
 */
import { isPlain } from '../base/options.ts'
import { isThenable } from '../base/thenable.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { exchangeOf } from '../handler/view.ts'
import { CustomReply } from '../reply/custom-reply.ts'
import { etagOf } from '../reply/etag.ts'
import { nextLink } from '../reply/link.ts'
import type { PageMeta } from '../wire/list.ts'
import { RawJson } from '../wire/raw-json.ts'
import { restErrorOf } from './database-errors.ts'
import { namesOf } from './fields.ts'
import { type Needed, splitNeeded } from './json-text.ts'
import { contentRange, hasLists, hasPage, unwrapped } from './query-dialect.ts'
import { narrowed } from './relations/access.ts'
import { type Include, NO_INCLUDE } from './relations/parse-include.ts'
import { notingWriter } from './replicas.ts'
import { type CrudView, FACTS, STATE } from './view.ts'

type Strip = (value: unknown) => unknown

const NOTHING: Needed = Object.freeze({})
const NONE: readonly Needed[] = Object.freeze([])
const STRIP: unique symbol = Symbol('verbena.strip')

/**
 * JSON text of one or more records, and their `needed` fields. `stripObject` is applied when the text is serialized
 * inside another value.
 */
class RecordJson<N> extends RawJson {
	readonly #needed: N
	readonly #strip: Strip | undefined

	constructor(text: string, needed: N, strip: Strip | undefined) {
		super(text)
		this.#needed = needed
		this.#strip = strip
	}

	/**
	 * The fields named by `needs()`; for a page, one object per record. They are sent only if the client asked for them.
	 */
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

	/** @param strip applied when the record is serialized inside another value */
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

	/** The record's key, as in its URL. */
	get id(): string {
		return this.#id
	}

	/** The version as digits, for the ETag; `undefined` if records have no version. */
	get version(): string | undefined {
		return this.#version
	}

	/** A copy with another value, and the same ETag and Location. */
	with(value: unknown): CrudRecord {
		return recordWith(this, textOf(value))
	}
}

/** A page of records. */
export class CrudPage extends RecordJson<readonly Needed[]> {
	readonly #meta: PageMeta

	/** @param strip applied when the page is serialized inside another value */
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

	/** A copy with other records, and the same `meta`. */
	with(value: unknown): CrudPage {
		return pageWith(this, textOf(value))
	}
}

// Not methods: bundlers rename a class that refers to itself, and messages show the class's name.
function recordWith(record: CrudRecord, text: string): CrudRecord {
	return new CrudRecord(text, record.id, record.version, record.needed, record[STRIP])
}

function pageWith(page: CrudPage, text: string): CrudPage {
	return new CrudPage(text, page.meta, page.needed, page[STRIP])
}

function textOf(value: unknown): string {
	if (value instanceof RawJson) return value.text
	const text: string | undefined = JSON.stringify(value)
	if (text === undefined) throw new TypeError(`a ${typeof value} can't be sent: JSON has no such value`)
	return text
}

export function recordOf(view: CrudView, id: string, json: string, version: string | undefined): CrudRecord {
	const { selection, include, needed } = view[STATE]
	if (needed.length === 0) return new CrudRecord(json, id, version, NOTHING, stripOf(view))
	const requested = [...selection.names, ...include.map(({ relation }) => relation.name)]
	const split = splitNeeded(json, requested, namesOf(needed))
	return new CrudRecord(split.json, id, version, split.needed[0], stripOf(view))
}

/** @param requested names of the fields that the client asked for */
export function pageOf(view: CrudView, json: string, meta: PageMeta, requested: readonly string[]): CrudPage {
	const { needed } = view[STATE]
	if (needed.length === 0) return new CrudPage(json, meta, NONE, stripOf(view))
	const split = splitNeeded(json, requested, namesOf(needed))
	return new CrudPage(split.json, meta, split.needed, stripOf(view))
}

function stripOf(view: CrudView): Strip | undefined {
	return view[FACTS].isStripped ? (value) => stripRecords(view, value) : undefined
}

/** Applies the subclass's `stripObject` to a record, or to each record of a list; other values stay as they are. */
export function stripRecords(view: CrudView, value: unknown): unknown {
	return Array.isArray(value) ? value.map((one) => stripRecord(view, one)) : stripRecord(view, value)
}

function stripRecord(view: CrudView, value: unknown): unknown {
	if (!isPlain(value)) return value
	const answer = view.stripObject(value as Record<string, unknown>) // a plain object
	if (!(answer instanceof Promise)) return answer
	// An unhandled rejection would end the process.
	answer.catch(() => {})
	throw new TypeError(`${view[FACTS].plan.owner}.stripObject() must return a value, not a promise`)
}

/**
 * Maximum length of a `Link` header; a longer one is left out. Lists sorted by long texts have long cursors, clients
 * limit headers, and servers limit URLs. `meta.next` has cursors of any length, which clients can send with QUERY.
 */
const MAX_LINK_LENGTH = 4_096

/**
 * Calls a method that isn't one of the operations, and completes its answer.
 *
 * @throws RestError for a ModelError, as the operations do; any other error as it was thrown
 */
export function ownAnswer(view: CrudView, run: () => unknown): unknown {
	const { plan, isNarrowed } = view[FACTS]
	const noted = plan.hasReplicas ? () => notingWriter(view, run) : run
	if (isNarrowed || plan.relations.size > 0) return narrowed(view, () => answerOf(view, noted))
	return answerOf(view, noted)
}

function answerOf(view: CrudView, run: () => unknown): unknown {
	const fail = (error: unknown): never => {
		throw restErrorOf(error, view[FACTS].plan)
	}
	let value: unknown
	try {
		value = run()
	} catch (error) {
		return fail(error)
	}
	return isThenable(value)
		? Promise.resolve(value).then((one) => methodAnswer(view, one), fail)
		: methodAnswer(view, value)
}

/** Adds `meta` to a page, and applies `stripObject` to records. */
function methodAnswer(view: CrudView, answer: unknown): unknown {
	if (answer instanceof CrudPage) return pageAnswer(view, exchangeOf(view, 'list'), answer)
	if (answer instanceof CrudRecord) return stripped(view, answer)
	if (!(answer instanceof CustomReply)) return answer
	const { value } = answer
	return value instanceof CrudPage || value instanceof CrudRecord ? customAnswer(view, answer) : answer
}

/** A list with its `meta`, also as headers for clients without the envelope. */
export function pageAnswer(
	view: CrudView,
	exchange: Exchange,
	given: unknown,
	include: readonly Include[] = NO_INCLUDE,
): unknown {
	const answer = withoutMeta(view, include, given)
	if (answer === null || answer === undefined) return answer
	if (answer instanceof CustomReply) return customAnswer(view, answer)
	const meta = answer instanceof CrudPage ? answer.meta : view[STATE].page
	if (meta === undefined) return stripped(view, answer)
	setPageHeaders(view, exchange, meta)
	return new CustomReply(stripped(view, answer), { meta: { ...meta } }, false)
}

function setPageHeaders(view: CrudView, exchange: Exchange, meta: PageMeta): void {
	const { next, total, more } = meta
	const { dialect } = view[FACTS].plan
	// A cursor can't be combined with the page parameters of a dialect.
	const isLinked = next !== null && !(dialect !== undefined && hasPage(dialect, exchange.query()))
	const link = isLinked ? nextLink(exchange.target(), exchange.queryText, next) : ''
	if (link !== '' && link.length <= MAX_LINK_LENGTH) view.header('Link', link)
	if (total === undefined || more !== undefined) return
	view.header('X-Total-Count', String(total))
	if (dialect === 'simple-rest') view.header('Content-Range', contentRange(meta, total))
}

/** With a dialect, replaces related lists with their `meta` by plain arrays. */
function withoutMeta(view: CrudView, include: readonly Include[], answer: unknown): unknown {
	if (view[FACTS].plan.dialect === undefined || !hasLists(include)) return answer
	const isRead = answer instanceof CrudPage || answer instanceof CrudRecord
	return isRead ? answer.with(new RawJson(unwrapped(include, answer.text))) : answer
}

/** One record, with its ETag. */
export function recordAnswer(view: CrudView, given: unknown): unknown {
	const answer = withoutMeta(view, view[STATE].include, given)
	if (answer === null || answer === undefined) return answer
	if (answer instanceof CustomReply) return customAnswer(view, answer)
	if (answer instanceof CrudRecord && answer.version !== undefined && hasEtag(view))
		view.header('ETag', etagOf(answer.version))
	return stripped(view, answer)
}

/** No ETag with related records: their changes don't change the version. */
export function hasEtag(view: CrudView): boolean {
	return view[STATE].include.length === 0
}

/** An answer made by `reply()`: its status and headers are kept, and its `meta` if it has one. */
function customAnswer(view: CrudView, answer: CustomReply<unknown>): CustomReply<unknown> {
	const { value, options, enveloped } = answer
	if (value instanceof CrudPage && options.meta === undefined) {
		setPageHeaders(view, exchangeOf(view, 'list'), value.meta)
		return new CustomReply(stripped(view, value), { ...options, meta: { ...value.meta } }, enveloped)
	}
	return view[FACTS].isStripped ? new CustomReply(stripped(view, value), options, enveloped) : answer
}

export function stripped(view: CrudView, answer: unknown): unknown {
	if (!view[FACTS].isStripped) return answer
	if (answer instanceof CustomReply) return customAnswer(view, answer)
	return stripRecords(view, answer instanceof RawJson ? answer.value() : answer)
}

/** A JSON array of answers, each a record or what an override returned, after `stripObject`. */
export function listOf(view: CrudView, answers: readonly unknown[]): RawJson {
	return new RawJson(`[${answers.map((answer) => textInList(stripped(view, sentValue(answer)))).join()}]`)
}

export function textInList(answer: unknown): string {
	return textOf(sentValue(answer) ?? null)
}

/** The value of an answer, without the status and headers of `reply()`. */
export function sentValue(answer: unknown): unknown {
	return answer instanceof CustomReply ? answer.value : answer
}
