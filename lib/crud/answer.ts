/** The last of a `CrudHandler`'s steps: what its methods have answered, with `meta` and headers. */

import { isThenable } from '../base/thenable.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { exchangeOf } from '../handler/view.ts'
import { CustomReply } from '../reply/head.ts'
import { nextLink } from '../reply/link.ts'
import { RawJson } from '../wire/json.ts'
import type { PageMeta } from '../wire/list.ts'
import { restErrorOf } from './model-errors.ts'
import { etagOf } from './preconditions.ts'
import { CrudPage, CrudRecord } from './record.ts'
import { ASKED, type CrudView, FACTS } from './view.ts'

/**
 * Sorted by long texts, a list has long cursors: clients refuse so long headers, and servers so long URLs. In `meta`
 * they are all the same, to be sent by QUERY.
 */
const LONGEST_LINK = 4_096

/** A list, with its `meta`, and the headers that say the same to whoever has no envelope. */
export function pageAnswer(view: CrudView, exchange: Exchange, answer: unknown): unknown {
	if (answer === null || answer === undefined) return answer
	if (answer instanceof CustomReply) return repliedAnswer(view, answer)
	const meta = answer instanceof CrudPage ? answer.meta : view[ASKED].page
	if (meta === undefined) return stripped(view, answer)
	tellPage(view, exchange, meta)
	return new CustomReply(stripped(view, answer), { meta: { ...meta } }, false)
}

function tellPage(view: CrudView, exchange: Exchange, { next, total }: PageMeta): void {
	const link = next === null ? '' : nextLink(exchange.target(), exchange.queryText, next)
	if (link !== '' && link.length <= LONGEST_LINK) view.header('Link', link)
	if (total !== undefined) view.header('X-Total-Count', String(total))
}

/**
 * What a method beside the operations answers.
 *
 * @throws RestError for what a model has refused, as the operations do; anything else as it was thrown
 */
export function ownAnswer(view: CrudView, run: () => unknown): unknown {
	const { plan } = view[FACTS]
	let value: unknown
	try {
		value = run()
	} catch (error) {
		throw restErrorOf(error, plan)
	}
	if (!isThenable(value)) return otherAnswer(view, value)
	return Promise.resolve(value).then(
		(one) => otherAnswer(view, one),
		(error: unknown) => {
			throw restErrorOf(error, plan)
		},
	)
}

/** A page keeps its `meta`, records go through `stripObject`. */
function otherAnswer(view: CrudView, answer: unknown): unknown {
	if (answer instanceof CrudPage) return pageAnswer(view, exchangeOf(view, 'list'), answer)
	if (answer instanceof CrudRecord) return stripped(view, answer)
	if (!(answer instanceof CustomReply)) return answer
	const { value } = answer
	return value instanceof CrudPage || value instanceof CrudRecord ? repliedAnswer(view, answer) : answer
}

/** One record, with its ETag. */
export function recordAnswer(view: CrudView, answer: unknown): unknown {
	if (answer === null || answer === undefined) return answer
	if (answer instanceof CustomReply) return repliedAnswer(view, answer)
	if (answer instanceof CrudRecord && answer.version !== undefined)
		view.header('ETag', etagOf(answer.version))
	return stripped(view, answer)
}

/** What a subclass has answered by `reply()`: its status and headers are its own, and so is its meta where it has one. */
function repliedAnswer(view: CrudView, answer: CustomReply<unknown>): CustomReply<unknown> {
	const { value, options, enveloped } = answer
	if (value instanceof CrudPage && options.meta === undefined) {
		tellPage(view, exchangeOf(view, 'list'), value.meta)
		return new CustomReply(stripped(view, value), { ...options, meta: { ...value.meta } }, enveloped)
	}
	return view[FACTS].strips ? new CustomReply(stripped(view, value), options, enveloped) : answer
}

/**
 * What a subclass's `stripObject` makes of it; what it doesn't know of, bytes and streams, as it is. A record that
 * was deleted has no ETag any more, and comes here at once.
 */
export function stripped(view: CrudView, answer: unknown): unknown {
	if (!view[FACTS].strips) return answer
	if (answer instanceof CustomReply) return repliedAnswer(view, answer)
	const value = answer instanceof RawJson ? answer.value() : answer
	return Array.isArray(value) ? value.map((one) => strippedOne(view, one)) : strippedOne(view, value)
}

function strippedOne(view: CrudView, value: unknown): unknown {
	if (!isRecord(value)) return value
	const answer = view.stripObject(value)
	if (!(answer instanceof Promise)) return answer
	// Its rejection is of no interest beside this error, and must not end the process as unhandled.
	answer.catch(() => {})
	throw new TypeError(`${view[FACTS].plan.owner}.stripObject() must answer at once, not by a promise`)
}

function isRecord(value: unknown): value is Record<string, unknown> {
	if (typeof value !== 'object' || value === null) return false
	const prototype: unknown = Object.getPrototypeOf(value)
	return prototype === Object.prototype || prototype === null
}
