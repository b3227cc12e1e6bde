/**
 * The actions of a `CrudHandler`, one function each, in the order in which a request passes its steps: what the
 * URL asks, what the body holds, what the headers demand, the method, the answer. Conditions come behind every
 * check that needs no record, and are left to the change itself where that can compare (RFC 9110 §13.2.1: failures
 * that can be told before take precedence).
 */

import { RestError } from '../base/error.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { OwnAction } from '../handler/mount/own-actions.ts'
import { exchangeOf } from '../handler/view.ts'
import type { Condition } from '../models/model.ts'
import { recordUrl } from '../reply/link.ts'
import type { Validator } from '../validate/validator.ts'
import { pageAnswer, recordAnswer, stripped } from './answer.ts'
import { guardedCreate, guardedVersion, isKnown } from './guard.ts'
import { type CrudQuery, listQuery, selectionOf } from './list-query.ts'
import { retold } from './model-errors.ts'
import { allOf } from './operator.ts'
import type { CrudOperation } from './options.ts'
import type { CrudPlan } from './plan.ts'
import { QueryParams } from './query-params.ts'
import { unknownName } from './refusal.ts'
import { crudShape } from './shape.ts'
import { changeChecked, checkedId, confine, createChecked, removeRecord } from './store.ts'
import { type Asked, ask, type CrudFacts, type CrudView, FACTS } from './view.ts'
import { Writer } from './write.ts'

/**
 * The actions that the handler allows.
 *
 * @param validator the server's, for lists of rules; `undefined` for ours
 * @throws TypeError for rules that are wrong
 */
export function crudActions(facts: CrudFacts, validator: Validator | undefined): OwnAction[] {
	const { plan, rules } = facts
	const writer = new Writer(plan, rules, validator)
	const actions: (OwnAction & { readonly name: CrudOperation })[] = [
		{ name: 'list', methods: ['GET', 'QUERY'], segments: 0, run: action(list) },
		{ name: 'create', methods: ['POST'], segments: 0, run: action((view) => create(view, writer)) },
		{ name: 'read', methods: ['GET'], segments: 1, run: action(read) },
		{
			...{ name: 'update', methods: ['PATCH', 'POST'], segments: 1 },
			run: action((view, id) => change(view, id, 'update', writer)),
		},
		{
			...{ name: 'replace', methods: ['PUT'], segments: 1 },
			run: action((view, id) => change(view, id, 'replace', writer)),
		},
		{ name: 'remove', methods: ['DELETE'], segments: 1, run: action(remove) },
	]
	return actions
		.filter(({ name }) => plan.allow.has(name))
		.map((own) => ({ ...own, shape: () => crudShape(facts, validator, own.name) }))
}

/** A method for the mount, which calls it on views of the handler that has brought it. */
function action(work: (view: CrudView, segment: unknown) => unknown): OwnAction['run'] {
	return function run(this: object, segment: unknown) {
		return work(this as CrudView, segment)
	}
}

async function list(view: CrudView): Promise<unknown> {
	const { plan, overridden } = view[FACTS]
	const exchange = exchangeOf(view, 'list')
	const query = queryOf(view, exchange)
	if (!overridden.has('list')) return pageAnswer(view, exchange, await view.list(query))
	ask(view, query.selection)
	return pageAnswer(view, exchange, await retold(plan, 'list', () => view.list(query)))
}

/** What the request asks a list for, for methods beside the operations. */
export function requestedList(view: CrudView, where?: Condition): CrudQuery {
	const query = queryOf(view, exchangeOf(view, 'listQuery'))
	return where === undefined ? query : { ...query, where: allOf(where, query.where) }
}

function queryOf(view: CrudView, exchange: Exchange): CrudQuery {
	const { plan, plainQuery } = view[FACTS]
	return exchange.queryText === '' && exchange.method !== 'QUERY' ? plainQuery : askedQuery(plan, exchange)
}

function askedQuery(plan: CrudPlan, exchange: Exchange): CrudQuery {
	const params = new QueryParams(plan)
	params.addText(exchange.query())
	if (exchange.method === 'QUERY') {
		const body = exchange.body.decoded()
		if ('fields' in body) params.addText(body.fields)
		else params.addJson(exchange.body.fields())
	}
	return listQuery(plan, params)
}

/** Most reads ask for nothing but the record. */
function read(view: CrudView, segment: unknown): unknown {
	const exchange = exchangeOf(view, 'read')
	if (view[FACTS].isPlainRead && exchange.queryText === '' && typeof segment === 'string')
		return view.read(segment)
	return readAsked(view, segment, exchange)
}

async function readAsked(view: CrudView, segment: unknown, exchange: Exchange): Promise<unknown> {
	const { plan } = view[FACTS]
	const id = checkedId(view, segment)
	askRecord(view, exchange)
	const answer = await retold(plan, 'read', () => view.read(id))
	if (answer === null || answer === undefined) throw new RestError('not_found')
	if (plan.version !== undefined && isKnown(view, exchange.headers, answer)) return null
	return recordAnswer(view, answer)
}

async function create(view: CrudView, writer: Writer): Promise<unknown> {
	const { plan, overridden } = view[FACTS]
	const exchange = exchangeOf(view, 'create')
	const asked = askRecord(view, exchange)
	const scope = await confine(view, 'create')
	const isText = exchange.body.isText()
	const values = await writer.read('create', { body: exchange.body.fields(), isText, scope, id: undefined })
	// Before the method, which may want another one.
	view.status(201)
	const answer = await guardedCreate(view, exchange.headers, () =>
		overridden.has('create')
			? retold(plan, 'create', () => view.create(values))
			: createChecked(view, scope, values),
	)
	if (asked.createdId !== undefined)
		view.header('Location', recordUrl(exchange.incoming, exchange.mount?.path ?? [], asked.createdId))
	return recordAnswer(view, answer)
}

async function change(
	view: CrudView,
	segment: unknown,
	operation: 'update' | 'replace',
	writer: Writer,
): Promise<unknown> {
	const id = checkedId(view, segment)
	const exchange = exchangeOf(view, operation)
	const asked = askRecord(view, exchange)
	const scope = await confine(view, operation)
	const isText = exchange.body.isText()
	const values = await writer.read(operation, { body: exchange.body.fields(), isText, scope, id })
	asked.version = await guardedVersion(view, id, exchange.headers, scope)
	const { plan, overridden } = view[FACTS]
	// What an override is given it may pass on changed, and so that is checked again.
	if (!overridden.has(operation))
		return recordAnswer(view, await changeChecked(view, operation, id, scope, values))
	return recordAnswer(view, await retold(plan, operation, () => view[operation](id, values)))
}

async function remove(view: CrudView, segment: unknown): Promise<unknown> {
	const id = checkedId(view, segment)
	const exchange = exchangeOf(view, 'remove')
	const asked = askRecord(view, exchange)
	const scope = await confine(view, 'remove')
	asked.version = await guardedVersion(view, id, exchange.headers, scope)
	const { plan, overridden } = view[FACTS]
	if (!overridden.has('remove')) return stripped(view, await removeRecord(view, id, scope))
	return stripped(view, await retold(plan, 'remove', () => view.remove(id)))
}

/** What the URL asks of a record: which of its fields are answered. */
function askRecord(view: CrudView, exchange: Exchange): Asked {
	const { plan } = view[FACTS]
	if (exchange.queryText === '') return ask(view, plan.selections.all)
	const given = exchange.query()
	for (const name of Object.keys(given.last)) {
		if (name === 'fields' || plan.ignoreQuery.has(name)) continue
		throw unknownName(name, 'is no parameter of a record: there is', ['fields'])
	}
	// As in a list: repeated, or with commas between.
	const fields = given.all('fields')
	return ask(view, selectionOf(plan, fields.length === 0 ? undefined : fields.join()))
}
