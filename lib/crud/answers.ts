/**
 * From what operations and methods of a `CrudHandler` return to answers: a page with its `meta`, a record with its ETag, and
 * both through `stripObject`. Called by `operations.ts`, and by the handler for its other methods.
 */

import { isThenable } from '../base/thenable.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { exchangeOf } from '../handler/view.ts'
import { CustomReply } from '../reply/custom-reply.ts'
import { etagOf } from '../reply/etag.ts'
import { nextLink } from '../reply/link.ts'
import type { PageMeta } from '../wire/list.ts'
import { RawJson } from '../wire/raw-json.ts'
import { CrudPage, CrudRecord, stripRecords } from './crud-record.ts'
import { restErrorOf } from './model-errors.ts'
import { narrowed } from './relations/access.ts'
import { type CrudView, FACTS, STATE } from './view.ts'

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
	if (isNarrowed || plan.relations.size > 0) return narrowed(view, () => answerOf(view, run))
	return answerOf(view, run)
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
export function pageAnswer(view: CrudView, exchange: Exchange, answer: unknown): unknown {
	if (answer === null || answer === undefined) return answer
	if (answer instanceof CustomReply) return customAnswer(view, answer)
	const meta = answer instanceof CrudPage ? answer.meta : view[STATE].page
	if (meta === undefined) return stripped(view, answer)
	setPageHeaders(view, exchange, meta)
	return new CustomReply(stripped(view, answer), { meta: { ...meta } }, false)
}

function setPageHeaders(view: CrudView, exchange: Exchange, { next, total, more }: PageMeta): void {
	const link = next === null ? '' : nextLink(exchange.target(), exchange.queryText, next)
	if (link !== '' && link.length <= MAX_LINK_LENGTH) view.header('Link', link)
	if (total !== undefined && more === undefined) view.header('X-Total-Count', String(total))
}

/** One record, with its ETag. */
export function recordAnswer(view: CrudView, answer: unknown): unknown {
	if (answer === null || answer === undefined) return answer
	if (answer instanceof CustomReply) return customAnswer(view, answer)
	if (answer instanceof CrudRecord && answer.version !== undefined && hasEtag(view))
		view.header('ETag', etagOf(answer.version))
	return stripped(view, answer)
}

/** The version says nothing about related records. */
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
