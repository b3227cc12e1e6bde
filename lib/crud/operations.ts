/**
 * A request to a `CrudHandler`: one function for each operation, with its steps in order: id, query, scope, body,
 * preconditions, then the model or an override, and the answer. Preconditions come after every check that needs no
 * record (RFC 9110 §13.2.1); where possible, the model compares the version as part of the change. The mount gets these
 * functions as actions; they call `store.ts`.
 */

import { RestError } from '../base/error.ts'
import type { RouteMethod } from '../base/http.ts'
import { isThenable } from '../base/thenable.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { OwnAction } from '../handler/mount/methods.ts'
import { exchangeOf } from '../handler/view.ts'
import type { Condition } from '../models/model.ts'
import { CustomReply } from '../reply/custom-reply.ts'
import { etagOf } from '../reply/etag.ts'
import { nextLink, recordUrl } from '../reply/link.ts'
import type { Validator } from '../validate/validator.ts'
import type { PageMeta } from '../wire/list.ts'
import { RawJson } from '../wire/raw-json.ts'
import { crudShape } from './api-description.ts'
import { unknownName } from './bad-query.ts'
import { allOf } from './comparison.ts'
import { CrudPage, CrudRecord, stripRecords } from './crud-record.ts'
import { type CrudQuery, QueryParams } from './list-query.ts'
import { restErrorOf } from './model-errors.ts'
import type { CrudOperation } from './options.ts'
import { createConditionally, isNotModified, requiredVersion } from './preconditions.ts'
import { NO_INCLUDE, type Requested } from './relations/include.ts'
import type { Scope } from './scope.ts'
import {
	changeWithin,
	checkedId,
	createWithin,
	listRecords,
	modelId,
	readRecord,
	removeWithin,
	resolveScope,
	translateModelErrors,
} from './store.ts'
import { type CrudFacts, type CrudView, FACTS, type RequestState, STATE } from './view.ts'
import { BodyReader, checkedChanges, type WriteBody, type WriteKind } from './write.ts'

/**
 * Maximum length of a `Link` header; a longer one is left out. Lists sorted by long texts have long cursors, clients
 * limit headers, and servers limit URLs. `meta.next` has cursors of any length, which clients can send with QUERY.
 */
const MAX_LINK_LENGTH = 4_096

/**
 * The actions for the operations in `allow`.
 *
 * @param validator the server's, for lists of rules; `undefined` for the built-in one
 * @throws TypeError for invalid rules
 */
export function crudActions(facts: CrudFacts, validator: Validator | undefined): OwnAction[] {
	const { plan, rules } = facts
	const bodies = new BodyReader(plan, rules, validator)
	const action = (
		name: CrudOperation,
		methods: readonly RouteMethod[],
		segments: 0 | 1,
		run: (view: CrudView, segment: unknown) => unknown,
	) => ({
		...{ name, methods, segments, shape: () => crudShape(facts, validator, name) },
		// The mount only calls it with a view of a CrudHandler as `this`.
		run(this: object, segment: unknown) {
			return run(this as CrudView, segment)
		},
	})
	const all = [
		action('list', ['GET', 'QUERY'], 0, list),
		action('create', ['POST'], 0, (view) => create(view, bodies)),
		action('read', ['GET'], 1, read),
		action('update', ['PATCH', 'POST'], 1, (view, id) => change(view, id, 'update', bodies)),
		action('replace', ['PUT'], 1, (view, id) => change(view, id, 'replace', bodies)),
		action('remove', ['DELETE'], 1, remove),
	]
	return all.filter(({ name }) => plan.allow.has(name))
}

async function list(view: CrudView): Promise<unknown> {
	const exchange = exchangeOf(view, 'list')
	const query = queryOf(view, exchange)
	if (!view[FACTS].overridden.has('list')) return pageAnswer(view, exchange, await listRecords(view, query))
	beginState(view, { selection: query.selection, include: NO_INCLUDE })
	return pageAnswer(view, exchange, await translateModelErrors(view, 'list', () => view.list(query)))
}

/** This request's query, read as that of a list: for `listQuery()`. */
export function requestedList(view: CrudView, where?: Condition): CrudQuery {
	const query = queryOf(view, exchangeOf(view, 'listQuery'))
	return where === undefined ? query : { ...query, where: allOf(where, query.where) }
}

function queryOf(view: CrudView, exchange: Exchange): CrudQuery {
	const { plan, defaultQuery } = view[FACTS]
	if (exchange.queryText === '' && exchange.method !== 'QUERY') return defaultQuery
	const params = new QueryParams(plan)
	params.addText(exchange.query())
	if (exchange.method === 'QUERY') {
		const body = exchange.body.decoded()
		if ('fields' in body) params.addText(body.fields)
		else params.addJson(exchange.body.fields())
	}
	return params.query()
}

function read(view: CrudView, segment: unknown): unknown {
	const exchange = exchangeOf(view, 'read')
	const given = givenId(view, segment, exchange)
	// The fast path: most reads have no parameters.
	if (view[FACTS].isPlainRead && exchange.queryText === '') return readRecord(view, given)
	return readWithParameters(view, given, exchange)
}

/** The id in a URL. Of several values, it is the segment as it was sent: decoded, a comma within a value would be lost. */
function givenId(view: CrudView, segment: unknown, exchange: Exchange): unknown {
	if (view[FACTS].plan.keys.length < 2) return segment
	const [path = ''] = exchange.target().split('?', 1)
	return path.split('/').findLast((sent) => decodeURIComponent(sent) === segment)
}

async function readWithParameters(view: CrudView, given: unknown, exchange: Exchange): Promise<unknown> {
	const { plan } = view[FACTS]
	const id = checkedId(view, given)
	beginRecordState(view, exchange)
	const answer = await translateModelErrors(view, 'read', () => view.read(id))
	if (answer === null || answer === undefined) throw new RestError('not_found')
	if (plan.version !== undefined && hasEtag(view) && isNotModified(view, exchange.headers, answer))
		return null
	return recordAnswer(view, answer)
}

async function create(view: CrudView, bodies: BodyReader): Promise<unknown> {
	const { plan, overridden } = view[FACTS]
	const exchange = exchangeOf(view, 'create')
	const state = beginRecordState(view, exchange)
	const scope = await resolveScope(view, 'create')
	const values = await bodies.read(bodyOf(exchange, 'create', scope, undefined))
	// Set before the call, because an override may set another status.
	view.status(201)
	const answer = await createConditionally(view, exchange.headers, () =>
		overridden.has('create')
			? translateModelErrors(view, 'create', () => view.create(values))
			: createWithin(view, scope, checkedChanges(plan, values)),
	)
	if (state.createdSegment !== undefined)
		view.header('Location', recordUrl(exchange.incoming, exchange.mount?.path ?? [], state.createdSegment))
	return recordAnswer(view, answer)
}

async function change(
	view: CrudView,
	segment: unknown,
	operation: 'update' | 'replace',
	bodies: BodyReader,
): Promise<unknown> {
	const { plan, overridden } = view[FACTS]
	const exchange = exchangeOf(view, operation)
	const id = checkedId(view, givenId(view, segment, exchange))
	const state = beginRecordState(view, exchange)
	const scope = await resolveScope(view, operation)
	const values = await bodies.read(bodyOf(exchange, operation, scope, modelId(view, id, scope)))
	state.version = await requiredVersion(view, id, exchange.headers, scope)
	// An override may pass other values to `super`, so `super` checks them again.
	const answer = await (overridden.has(operation)
		? translateModelErrors(view, operation, () => view[operation](id, values))
		: changeWithin(view, operation, id, scope, checkedChanges(plan, values)))
	return recordAnswer(view, answer)
}

async function remove(view: CrudView, segment: unknown): Promise<unknown> {
	const exchange = exchangeOf(view, 'remove')
	const id = checkedId(view, givenId(view, segment, exchange))
	const state = beginRecordState(view, exchange)
	const scope = await resolveScope(view, 'remove')
	state.version = await requiredVersion(view, id, exchange.headers, scope)
	const answer = await (view[FACTS].overridden.has('remove')
		? translateModelErrors(view, 'remove', () => view.remove(id))
		: removeWithin(view, id, scope))
	// No ETag: the record is deleted.
	return stripped(view, answer)
}

function bodyOf({ body }: Exchange, kind: WriteKind, scope: Scope, id: string | undefined): WriteBody {
	return { kind, isText: body.isText(), body: body.fields(), scope, id }
}

/** Creates the state of a request for one record, with the fields that its URL asks for. */
function beginRecordState(view: CrudView, exchange: Exchange): RequestState {
	const { plan } = view[FACTS]
	if (exchange.queryText === '')
		return beginState(view, { selection: plan.selections.all, include: NO_INCLUDE })
	const parameters = plan.relations.size === 0 ? ['fields'] : ['fields', 'include']
	for (const name of Object.keys(exchange.query().last)) {
		if (parameters.includes(name) || plan.ignoreQuery.has(name)) continue
		throw unknownName(name, 'is not a parameter of a record: it takes', parameters)
	}
	const params = new QueryParams(plan)
	params.addText(exchange.query())
	return beginState(view, params.requested())
}

export function stateOf({ selection, include }: Requested): RequestState {
	return { selection, include, needed: [], version: undefined, createdSegment: undefined, page: undefined }
}

/** Gives a request its own state. An assignment would fail, because the view's prototype, the handler, is frozen. */
export function beginState(view: CrudView, requested: Requested): RequestState {
	const state = stateOf(requested)
	Object.defineProperty(view, STATE, { value: state })
	return state
}

/**
 * Calls a method that isn't one of the operations, and completes its answer.
 *
 * @throws RestError for a ModelError, as the operations do; any other error as it was thrown
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
function pageAnswer(view: CrudView, exchange: Exchange, answer: unknown): unknown {
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
function recordAnswer(view: CrudView, answer: unknown): unknown {
	if (answer === null || answer === undefined) return answer
	if (answer instanceof CustomReply) return customAnswer(view, answer)
	if (answer instanceof CrudRecord && answer.version !== undefined && hasEtag(view))
		view.header('ETag', etagOf(answer.version))
	return stripped(view, answer)
}

/** The version says nothing about related records. */
function hasEtag(view: CrudView): boolean {
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

function stripped(view: CrudView, answer: unknown): unknown {
	if (!view[FACTS].isStripped) return answer
	if (answer instanceof CustomReply) return customAnswer(view, answer)
	return stripRecords(view, answer instanceof RawJson ? answer.value() : answer)
}
