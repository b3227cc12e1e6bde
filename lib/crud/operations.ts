/**
 * A request to a `CrudHandler`: one function for each operation, in the order of its steps: the id, the query, the scope,
 * the body, the conditions, then the model or an override, and the answer. Conditions come after every check that needs no
 * record (RFC 9110 §13.2.1), and are left to the change itself where the model can compare within it. Called by the mount,
 * which gets these functions as actions; they call `store.ts`.
 */

import { RestError } from '../base/error.ts'
import type { RouteMethod } from '../base/http.ts'
import { isThenable } from '../base/thenable.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { OwnAction } from '../handler/mount/methods.ts'
import { exchangeOf } from '../handler/view.ts'
import type { Condition, Selection } from '../models/model.ts'
import { CustomReply } from '../reply/custom-reply.ts'
import { nextLink, recordUrl } from '../reply/link.ts'
import type { Validator } from '../validate/validator.ts'
import type { PageMeta } from '../wire/list.ts'
import { RawJson } from '../wire/raw-json.ts'
import { unknownName } from './bad-query.ts'
import { CrudPage, CrudRecord, stripRecords } from './crud-record.ts'
import { allOf } from './filter.ts'
import { type CrudQuery, QueryParams, selectionOf } from './list-query.ts'
import { restErrorOf } from './model-errors.ts'
import type { CrudOperation } from './options.ts'
import { createConditionally, etagOf, isNotModified, requiredVersion } from './preconditions.ts'
import { EVERYTHING, type Scope } from './scope.ts'
import { crudShape } from './shape.ts'
import {
	changeWithin,
	checkedId,
	createWithin,
	listRecords,
	readRecord,
	removeWithin,
	resolveScope,
	translateModelErrors,
} from './store.ts'
import { type CrudFacts, type CrudView, FACTS, type RequestState, STATE } from './view.ts'
import { checkedChanges, type WriteBody, type WriteKind, Writer } from './write.ts'

/**
 * A list sorted by long texts has long cursors, and clients refuse headers, servers URLs of that length. `meta.next` has
 * them at any length, to be sent by QUERY.
 */
const MAX_LINK = 4_096

/**
 * The actions that the handler allows.
 *
 * @param validator the server's, for lists of rules; `undefined` for ours
 * @throws TypeError for rules that are wrong
 */
export function crudActions(facts: CrudFacts, validator: Validator | undefined): OwnAction[] {
	const { plan, rules } = facts
	const writer = new Writer(plan, rules, validator)
	const action = (
		name: CrudOperation,
		methods: readonly RouteMethod[],
		segments: 0 | 1,
		run: (view: CrudView, segment: unknown) => unknown,
	) => ({
		...{ name, methods, segments, shape: () => crudShape(facts, validator, name) },
		// The mount calls it on views of the handler that it is of.
		run(this: object, segment: unknown) {
			return run(this as CrudView, segment)
		},
	})
	const all = [
		action('list', ['GET', 'QUERY'], 0, list),
		action('create', ['POST'], 0, (view) => create(view, writer)),
		action('read', ['GET'], 1, read),
		action('update', ['PATCH', 'POST'], 1, (view, id) => change(view, id, 'update', writer)),
		action('replace', ['PUT'], 1, (view, id) => change(view, id, 'replace', writer)),
		action('remove', ['DELETE'], 1, remove),
	]
	return all.filter(({ name }) => plan.allow.has(name))
}

async function list(view: CrudView): Promise<unknown> {
	const exchange = exchangeOf(view, 'list')
	const query = queryOf(view, exchange)
	if (!view[FACTS].overridden.has('list')) return pageAnswer(view, exchange, await listRecords(view, query))
	beginState(view, query.selection)
	return pageAnswer(view, exchange, await translateModelErrors(view, 'list', () => view.list(query)))
}

/** What the request asks of a list, for methods beside the operations. */
export function requestedList(view: CrudView, where?: Condition): CrudQuery {
	const query = queryOf(view, exchangeOf(view, 'listQuery'))
	return where === undefined ? query : { ...query, where: allOf(where, query.where) }
}

function queryOf(view: CrudView, exchange: Exchange): CrudQuery {
	const { plan, plainQuery } = view[FACTS]
	if (exchange.queryText === '' && exchange.method !== 'QUERY') return plainQuery
	const params = new QueryParams(plan)
	params.addText(exchange.query())
	if (exchange.method === 'QUERY') {
		const body = exchange.body.decoded()
		if ('fields' in body) params.addText(body.fields)
		else params.addJson(exchange.body.fields())
	}
	return params.query()
}

/** Most reads ask for nothing but the record. */
function read(view: CrudView, segment: unknown): unknown {
	const exchange = exchangeOf(view, 'read')
	if (view[FACTS].isPlainRead && exchange.queryText === '') return readRecord(view, segment)
	return readWithParameters(view, segment, exchange)
}

async function readWithParameters(view: CrudView, segment: unknown, exchange: Exchange): Promise<unknown> {
	const { plan } = view[FACTS]
	const id = checkedId(view, segment)
	beginRecordState(view, exchange)
	const answer = await translateModelErrors(view, 'read', () => view.read(id))
	if (answer === null || answer === undefined) throw new RestError('not_found')
	if (plan.version !== undefined && isNotModified(view, exchange.headers, answer)) return null
	return recordAnswer(view, answer)
}

async function create(view: CrudView, writer: Writer): Promise<unknown> {
	const { plan, overridden } = view[FACTS]
	const exchange = exchangeOf(view, 'create')
	const state = beginRecordState(view, exchange)
	const scope = await scopeOf(view, 'create')
	const values = await writer.read(bodyOf(exchange, 'create', scope, undefined))
	// Before the method, which may set another status.
	view.status(201)
	const answer = await createConditionally(view, exchange.headers, () =>
		overridden.has('create')
			? translateModelErrors(view, 'create', () => view.create(values))
			: createWithin(view, scope, checkedChanges(plan, values)),
	)
	if (state.createdId !== undefined)
		view.header('Location', recordUrl(exchange.incoming, exchange.mount?.path ?? [], state.createdId))
	return recordAnswer(view, answer)
}

async function change(
	view: CrudView,
	segment: unknown,
	operation: 'update' | 'replace',
	writer: Writer,
): Promise<unknown> {
	const { plan, overridden } = view[FACTS]
	const id = checkedId(view, segment)
	const exchange = exchangeOf(view, operation)
	const state = beginRecordState(view, exchange)
	const scope = await scopeOf(view, operation)
	const values = await writer.read(bodyOf(exchange, operation, scope, id))
	state.version = await requiredVersion(view, id, exchange.headers, scope)
	// An override may pass on other values than it was given: they are checked again there.
	const answer = await (overridden.has(operation)
		? translateModelErrors(view, operation, () => view[operation](id, values))
		: changeWithin(view, operation, id, scope, checkedChanges(plan, values)))
	return recordAnswer(view, answer)
}

async function remove(view: CrudView, segment: unknown): Promise<unknown> {
	const id = checkedId(view, segment)
	const exchange = exchangeOf(view, 'remove')
	const state = beginRecordState(view, exchange)
	const scope = await scopeOf(view, 'remove')
	state.version = await requiredVersion(view, id, exchange.headers, scope)
	const answer = await (view[FACTS].overridden.has('remove')
		? translateModelErrors(view, 'remove', () => view.remove(id))
		: removeWithin(view, id, scope))
	// A record that was deleted has no ETag any more.
	return stripped(view, answer)
}

function bodyOf({ body }: Exchange, kind: WriteKind, scope: Scope, id: string | undefined): WriteBody {
	return { kind, isText: body.isText(), body: body.fields(), scope, id }
}

function scopeOf(view: CrudView, operation: CrudOperation): Scope | Promise<Scope> {
	return view[FACTS].isScoped ? resolveScope(view, operation) : EVERYTHING
}

/** The state that the URL of a record asks for: which of its fields are answered. */
function beginRecordState(view: CrudView, exchange: Exchange): RequestState {
	const { plan } = view[FACTS]
	if (exchange.queryText === '') return beginState(view, plan.selections.all)
	const given = exchange.query()
	for (const name of Object.keys(given.last)) {
		if (name === 'fields' || plan.ignoreQuery.has(name)) continue
		throw unknownName(name, 'is not a parameter of a record: it takes', ['fields'])
	}
	// As in a list: repeated, or with commas between.
	const fields = given.all('fields')
	return beginState(view, selectionOf(plan, fields.length === 0 ? undefined : fields.join()))
}

export function stateOf(selection: Selection): RequestState {
	return { selection, needed: [], version: undefined, createdId: undefined, page: undefined }
}

/** Gives a request a state of its own: defined, as the handler below the view is frozen and an assignment would fail. */
export function beginState(view: CrudView, selection: Selection): RequestState {
	const state = stateOf(selection)
	Object.defineProperty(view, STATE, { value: state })
	return state
}

/**
 * The answer of a method beside the operations.
 *
 * @throws RestError for what a model has refused, as the operations do; anything else as it was thrown
 */
export function ownAnswer(view: CrudView, run: () => unknown): unknown {
	const { plan } = view[FACTS]
	const fail = (error: unknown): never => {
		throw restErrorOf(error, plan)
	}
	let value: unknown
	try {
		value = run()
	} catch (error) {
		return fail(error)
	}
	return isThenable(value)
		? Promise.resolve(value).then((one) => otherAnswer(view, one), fail)
		: otherAnswer(view, value)
}

/** A page keeps its `meta`, records go through `stripObject`. */
function otherAnswer(view: CrudView, answer: unknown): unknown {
	if (answer instanceof CrudPage) return pageAnswer(view, exchangeOf(view, 'list'), answer)
	if (answer instanceof CrudRecord) return stripped(view, answer)
	if (!(answer instanceof CustomReply)) return answer
	const { value } = answer
	return value instanceof CrudPage || value instanceof CrudRecord ? repliedAnswer(view, answer) : answer
}

/** A list with its `meta`, and the headers that say the same where there is no envelope. */
function pageAnswer(view: CrudView, exchange: Exchange, answer: unknown): unknown {
	if (answer === null || answer === undefined) return answer
	if (answer instanceof CustomReply) return repliedAnswer(view, answer)
	const meta = answer instanceof CrudPage ? answer.meta : view[STATE].page
	if (meta === undefined) return stripped(view, answer)
	setPageHeaders(view, exchange, meta)
	return new CustomReply(stripped(view, answer), { meta: { ...meta } }, false)
}

function setPageHeaders(view: CrudView, exchange: Exchange, { next, total }: PageMeta): void {
	const link = next === null ? '' : nextLink(exchange.target(), exchange.queryText, next)
	if (link !== '' && link.length <= MAX_LINK) view.header('Link', link)
	if (total !== undefined) view.header('X-Total-Count', String(total))
}

/** One record, with its ETag. */
function recordAnswer(view: CrudView, answer: unknown): unknown {
	if (answer === null || answer === undefined) return answer
	if (answer instanceof CustomReply) return repliedAnswer(view, answer)
	if (answer instanceof CrudRecord && answer.version !== undefined)
		view.header('ETag', etagOf(answer.version))
	return stripped(view, answer)
}

/** An answer made by `reply()`: its status and headers stay, and its `meta` where it has one. */
function repliedAnswer(view: CrudView, answer: CustomReply<unknown>): CustomReply<unknown> {
	const { value, options, enveloped } = answer
	if (value instanceof CrudPage && options.meta === undefined) {
		setPageHeaders(view, exchangeOf(view, 'list'), value.meta)
		return new CustomReply(stripped(view, value), { ...options, meta: { ...value.meta } }, enveloped)
	}
	return view[FACTS].isStripped ? new CustomReply(stripped(view, value), options, enveloped) : answer
}

/** The answer through the subclass's `stripObject`, if it has one. */
function stripped(view: CrudView, answer: unknown): unknown {
	if (!view[FACTS].isStripped) return answer
	if (answer instanceof CustomReply) return repliedAnswer(view, answer)
	return stripRecords(view, answer instanceof RawJson ? answer.value() : answer)
}
