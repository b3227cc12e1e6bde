/**
 * A request to a `CrudHandler`: one function for each operation, with its steps in order: id, query, scope, body,
 * preconditions, then the model or an override, and the answer. Preconditions come after every check that needs no
 * record (RFC 9110 §13.2.1); where possible, the model compares the version as part of the change. The mount gets these
 * functions as actions; they call `reads.ts`.
 */

import { RestError } from '../base/error.ts'
import type { RouteMethod } from '../base/http.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { OwnAction } from '../handler/mount/methods.ts'
import { exchangeOf } from '../handler/view.ts'
import { recordUrl } from '../reply/link.ts'
import type { Validator } from '../validate/validator.ts'
import { hasEtag, pageAnswer, recordAnswer, stripped } from './answers.ts'
import { crudShape } from './api-description.ts'
import { beginRecordState, checkAsked, queryOf } from './asked.ts'
import { changeWithin, createWithin, removeWithin, restoreWithin } from './changes.ts'
import { createMany, isMany } from './many/create.ts'
import { createNested, Nested } from './many/nested.ts'
import { removeMany } from './many/remove.ts'
import { updateMany, versionIn } from './many/update.ts'
import { upsert } from './many/upsert.ts'
import { updateOf } from './many/upsert-option.ts'
import type { CrudOperation } from './options.ts'
import type { CrudPlan } from './plan.ts'
import { createConditionally, isNotModified, requiredVersion } from './preconditions.ts'
import { checkedId, listRecords, modelId, readRecord, resolveScope, translateModelErrors } from './reads.ts'
import { narrowed } from './relations/access.ts'
import { NO_INCLUDE } from './relations/parse-include.ts'
import type { Scope } from './scope.ts'
import { checkExport, exportAll } from './transfer/export.ts'
import { exportFormat } from './transfer/format.ts'
import { IMPORT_LIMITS, importAll } from './transfer/import.ts'
import { exportShape, importShape } from './transfer/shape.ts'
import { Slots } from './transfer/slots.ts'
import { beginState, type CrudFacts, type CrudView, FACTS, STATE, WITHIN } from './view.ts'
import {
	BodyReader,
	checkedChanges,
	refuseFiles,
	type WriteBody,
	type WriteKind,
	type WrittenValues,
} from './write.ts'

const CHANGING: readonly RouteMethod[] = ['PATCH', 'POST']

/**
 * The actions for the operations in `allow`.
 *
 * @param validator the server's, for lists of rules; `undefined` for the built-in one
 * @throws TypeError for invalid rules
 */
export function crudActions(facts: CrudFacts, validator: Validator | undefined): OwnAction[] {
	const { plan, rules } = facts
	const bodies = new BodyReader(plan, rules, validator)
	const hasNested = [...plan.relations.values()].some(({ canCreate }) => canCreate)
	const nested = hasNested ? new Nested(plan, validator) : undefined
	const creating = plan.allow.has('create') ? 'create' : 'createMany'
	const listing = plan.allow.has('list') ? 'list' : 'export'
	const exports = plan.allow.has('export') ? new Slots('exports', plan.maxTransfers) : undefined
	const imports = new Slots('imports', plan.maxTransfers)
	const { access = {} } = facts.handler as { readonly access?: object } // a RestHandler
	const importing = Object.hasOwn(access, 'createMany') ? 'createMany' : 'create'
	const canCreateMany = plan.allow.has('createMany')
	const asUpdate = { accessOf: 'update', accessNames: plan.allow.has('updateMany') ? ['update'] : [] }
	const asRemove = { accessOf: 'remove', accessNames: plan.allow.has('removeMany') ? ['remove'] : [] }
	const update = plan.allow.has('upsert') ? updateOf(facts) : undefined
	// A merge patch (RFC 7396) would merge into the value of a JSON column, which an update replaces.
	const hasJson = [...plan.updatable.values()].some(({ field }) => field.type === 'json')
	const acceptPatch = hasJson ? 'application/json' : 'application/json, application/merge-patch+json'
	const canNarrow = facts.isNarrowed || plan.relations.size > 0
	const action = (
		name: CrudOperation,
		methods: readonly RouteMethod[],
		segments: 0 | 1,
		run: (view: CrudView, segment: unknown) => unknown,
	) => ({
		...{ name, methods, segments, shape: () => crudShape(facts, validator, name) },
		...(plan.relations.size === 0
			? {}
			: { authorize: (exchange: object) => checkAsked(exchange as Exchange, facts, name) }),
		// The mount only calls it with a view of a CrudHandler as `this`.
		run(this: object, segment: unknown) {
			const view = this as CrudView
			return canNarrow ? narrowed(view, (one) => run(one, segment)) : run(view, segment)
		},
	})
	const all = [
		exports === undefined
			? action('list', ['GET', 'QUERY'], 0, list)
			: {
					...action(listing, ['GET', 'QUERY'], 0, (view) => listOrExport(view, exports)),
					...{ accessOf: 'list', accessNames: ['list', 'export'] },
					...(listing === 'export' ? { shape: () => exportShape(facts) } : {}),
					authorize: async (exchange: object) => {
						await checkExport(exchange as Exchange, facts)
						await checkAsked(exchange as Exchange, facts, listing)
					},
				},
		// One action for `create` and `createMany`: access is checked before the body, which tells them apart, is read.
		{
			...action(creating, ['POST'], 0, (view) => createOneOrMany(view, bodies, nested)),
			accessOf: 'create',
			accessNames: canCreateMany ? ['create', 'createMany'] : [],
		},
		action('read', ['GET'], 1, read),
		{
			...action('update', plan.dialect === undefined ? CHANGING : [...CHANGING, 'PUT'], 1, (view, id) =>
				change(view, id, 'update', bodies),
			),
			acceptPatch,
		},
		// A merge patch would replace the list.
		{
			...action('updateMany', ['PATCH'], 0, (view) => updateMany(view, bodies)),
			...{ ...asUpdate, acceptPatch: 'application/json' },
		},
		action('replace', ['PUT'], 1, (view, id) => change(view, id, 'replace', bodies)),
		action('remove', ['DELETE'], 1, (view, id) => changeById(view, id, 'remove')),
		{
			...action('removeMany', ['DELETE'], 0, (view) =>
				removeMany(view, queryOf(view, exchangeOf(view, 'removeMany'))),
			),
			...asRemove,
			takesKey: true,
		},
		{
			...action('upsert', ['PUT'], 0, (view) => upsert(view, bodies)),
			...{ accessOf: 'create', accessNames: ['create', 'update'], takesKey: true },
			authorize: (exchange: object) => checkAsked(exchange as Exchange, facts, 'upsert', update),
		},
		{
			...action('restore', ['POST'], 1, (view, id) => changeById(view, id, 'restore')),
			...{ segments: 2, second: 'restore' },
		},
		{
			...action('import', ['POST'], 1, (view) => importAll(view, bodies, imports)),
			shape: () => importShape(facts),
			...{
				resource: 'import',
				streaming: IMPORT_LIMITS,
				accessOf: importing,
				limitOf: creating,
				authorize: undefined,
			},
			accessNames: plan.allow.has('import') ? ['create', 'createMany'] : [],
		},
	] as const
	return all.filter(({ name }) => plan.allow.has(name as CrudOperation))
}

function listOrExport(view: CrudView, slots: Slots): unknown {
	const format = exportFormat(view[FACTS].plan, exchangeOf(view, 'export'))
	view.header('Vary', 'Accept')
	return format === undefined ? list(view) : exportAll(view, format, slots)
}

export async function list(view: CrudView): Promise<unknown> {
	const exchange = exchangeOf(view, 'list')
	const query = queryOf(view, exchange)
	if (!view[FACTS].overridden.has('list'))
		return pageAnswer(view, exchange, await listRecords(view, query), query.include)
	beginState(view, { selection: query.selection, include: NO_INCLUDE })
	const answer = await translateModelErrors(view, 'list', () => view.list(query), undefined, {}, query)
	return pageAnswer(view, exchange, answer, query.include)
}

function read(view: CrudView, segment: unknown): unknown {
	const exchange = exchangeOf(view, 'read')
	const given = givenId(view, segment, exchange)
	// The fast path: most reads have no parameters.
	if (view[FACTS].isPlainRead && exchange.queryText === '') return readRecord(view, given)
	return readAnswer(view, given, exchange)
}

/**
 * The id in a URL. For a composite key, the segment as it was sent: decoded, a comma within a value would look like a separator.
 *
 * @param behind number of segments after it
 */
export function givenId(view: CrudView, segment: unknown, exchange: Exchange, behind = 0): unknown {
	if (view[FACTS].plan.keys.length < 2) return segment
	const [path = ''] = exchange.target().split('?', 1)
	const sent = path.split('/')
	return sent.slice(0, sent.length - behind).findLast((one) => decodeURIComponent(one) === segment)
}

export async function readAnswer(view: CrudView, given: unknown, exchange: Exchange): Promise<unknown> {
	const { plan } = view[FACTS]
	const id = checkedId(view, given)
	beginRecordState(view, exchange)
	const answer = await translateModelErrors(view, 'read', () => view.read(id), undefined, {}, view[STATE])
	if (answer === null || answer === undefined) throw new RestError('not_found')
	if (plan.version !== undefined && hasEtag(view) && isNotModified(view, exchange.headers, answer))
		return null
	return recordAnswer(view, answer)
}

function createOneOrMany(view: CrudView, bodies: BodyReader, nested?: Nested): Promise<unknown> {
	const exchange = exchangeOf(view, 'create')
	if (!view[FACTS].plan.allow.has('createMany') || !isMany(view, exchange))
		return create(view, bodies, nested)
	return createMany(view, bodies)
}

/** @param nested reads related records in the body; `undefined` for a record that is created below another one */
export async function create(view: CrudView, bodies: BodyReader, nested?: Nested): Promise<unknown> {
	const { plan, overridden } = view[FACTS]
	const exchange = exchangeOf(view, 'create')
	const state = beginRecordState(view, exchange)
	const scope = await resolveScope(view, 'create')
	if (!overridden.has('create')) refuseFiles(exchange)
	const body = bodyOf(exchange, plan, 'create', scope, undefined)
	const { own, given } = nested?.split(plan, body.body) ?? { own: body.body, given: [] }
	const read = () => bodies.read({ ...body, body: own })
	const make = (values: WrittenValues) =>
		overridden.has('create')
			? translateModelErrors(view, 'create', () => view.create(values))
			: createWithin(view, scope, checkedChanges(plan, values))
	const values = given.length === 0 ? await read() : undefined
	// Set before the call, because an override may set another status.
	view.status(201)
	const answer = await createConditionally(view, exchange.headers, () =>
		values === undefined ? createNested(view, given, read, make) : make(values),
	)
	// Related records are below another path, if their handler is mounted at all.
	const path = view[WITHIN] === undefined ? (exchange.mount?.path ?? []) : view[FACTS].paths[0]
	const { created } = given.length === 0 ? state : view[STATE]
	if (created !== undefined && path !== undefined)
		view.header('Location', recordUrl(exchange.incoming, path, created.segment))
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
	if (!overridden.has(operation)) refuseFiles(exchange)
	const values = await bodies.read(bodyOf(exchange, plan, operation, scope, modelId(view, id, scope)))
	state.version =
		(await requiredVersion(view, id, exchange.headers, scope)) ??
		(plan.dialect === undefined ? undefined : versionIn(plan, exchange.body.fields()))
	// An override may pass other values to `super`, so `super` checks them again.
	const answer = await (overridden.has(operation)
		? translateModelErrors(view, operation, () => view[operation](id, values))
		: changeWithin(view, operation, id, scope, checkedChanges(plan, values)))
	return recordAnswer(view, answer)
}

/** An operation that takes only the id. */
async function changeById(
	view: CrudView,
	segment: unknown,
	operation: 'remove' | 'restore',
): Promise<unknown> {
	const exchange = exchangeOf(view, operation)
	const id = checkedId(view, givenId(view, segment, exchange))
	const state = beginRecordState(view, exchange)
	const scope = await resolveScope(view, operation, operation === 'restore')
	state.version = await requiredVersion(view, id, exchange.headers, scope)
	const changeWithinScope = operation === 'remove' ? removeWithin : restoreWithin
	const answer = await (view[FACTS].overridden.has(operation)
		? translateModelErrors(view, operation, () => view[operation](id))
		: changeWithinScope(view, id, scope))
	// A deleted record has no ETag.
	return operation === 'remove' ? stripped(view, answer) : recordAnswer(view, answer)
}

function bodyOf(
	{ body }: Exchange,
	plan: CrudPlan,
	kind: WriteKind,
	scope: Scope,
	id: string | undefined,
): WriteBody {
	return { plan, kind, isText: body.isText(), body: body.fields(), scope, id }
}
