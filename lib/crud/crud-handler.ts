/**
 * `CrudHandler`: serves a model, with the operations list, read, create, update, replace and remove. The mount gets its
 * actions from `operations.ts`. An action calls a method here only if a subclass overrides it; otherwise it calls
 * `reads.ts` directly, as the methods here do.
 */
import { nearest } from '../base/options.ts'
import type { MountFacts } from '../exchange/exchange.ts'
import { RestHandler } from '../handler/handler.ts'
import type { Guards } from '../handler/mount/declarations.ts'
import { ERROR_BODY, OWN_ACTIONS, OWN_ANSWERS, type OwnAction } from '../handler/mount/methods.ts'
import { exchangeOf, findExchange } from '../handler/view.ts'
import type { Condition, Model } from '../models/model.ts'
import type { DatabaseSession } from '../models/session.ts'
import type { RawJson } from '../wire/raw-json.ts'
import { type CrudPage, type CrudRecord, ownAnswer } from './answers.ts'
import { requestedList } from './asked.ts'
import { begun } from './begun.ts'
import { changeRecord, createRecord, removeRecord, restoreRecord } from './changes.ts'
import { crudFacts, type Overridable, refuseFields } from './facts.ts'
import { type CrudQuery, completeQuery } from './list-query.ts'
import { createManyRecords } from './many/create.ts'
import { removeManyRecords } from './many/remove.ts'
import { updateManyRecords } from './many/update.ts'
import { upsertRecords } from './many/upsert.ts'
import type { CrudFieldLimits } from './narrow.ts'
import { crudActions } from './operations.ts'
import { type CrudFieldName, type CrudOperation, type CrudOptionsOf, OPERATIONS } from './options.ts'
import { dialectError } from './query-dialect.ts'
import { listRecords, readRecord } from './reads.ts'
import type { CrudId } from './record-id.ts'
import { checkRelations } from './relations/access.ts'
import { relationActions } from './relations/actions.ts'
import { notingWriters } from './replicas.ts'
import type { CrudScope } from './scope.ts'
import { totalRecords, totalsActions } from './totals/action.ts'
import { completeTotals, type TotalsRequest } from './totals/request.ts'
import { beginState, type CrudFacts, FACTS, type RequestState, STATE } from './view.ts'

/** The values given to `create`, `update` and `replace`, by field name. */
export type CrudValues = Readonly<Record<string, unknown>>

/**
 * Serves a model below the path where it is mounted. In `access`, its operations are `list`, `read` and so on.
 *
 *     new CrudHandler(await PostgresModel.open(pool, 'article'), {
 *       visible: ['id', 'title'], updatable: ['title'], allow: ['list', 'read', 'update'],
 *     })
 *     GET /article?limit=2    200 {"success":true,"data":[{"id":1,"title":"A"},…],"meta":{"limit":2,…}}
 *     GET /article/1          200 {"success":true,"data":{"id":1,"title":"A"}}
 *     PATCH /article/1        200, the record as it is now
 *
 * A subclass may override the operations, `scope` and `stripObject`, and add methods such as `get_stats()`.
 *
 * @template T a record with all fields, as clients see it: the compiler then checks the names in options. @default any names
 */
export class CrudHandler<T extends object = Record<string, unknown>> extends RestHandler {
	readonly model: Model
	/** @internal */
	readonly [FACTS]: CrudFacts
	/** @internal */
	readonly [STATE]: RequestState
	/** @internal */
	readonly [ERROR_BODY]: MountFacts['errorBody']
	/** False with a `dialect`, whose clients expect no envelope. @default true */
	override readonly wrap: boolean = true

	/** @throws TypeError without `visible`, for unknown options and columns; RangeError for numbers out of range */
	constructor(model: Model, options: CrudOptionsOf<T>) {
		super()
		const facts = crudFacts(this, new.target.name || 'CrudHandler', model, options, (name) =>
			isOverridden(this, name),
		)
		this.model = model
		if (facts.plan.dialect !== undefined) this.wrap = false
		this[ERROR_BODY] = facts.plan.dialect === undefined ? undefined : dialectError
		this[FACTS] = facts
		this[STATE] = facts.state
	}

	// Each operation has two overloads: TypeScript erases the type parameters of overloaded methods when it compares them, so
	// that an override may return anything, while `super.read(id)` is a promise of a CrudRecord. NoInfer prevents `Answer` from
	// being inferred from the caller's expected type. Programs may pass any CrudId, but an override must take a text: requests
	// pass one.

	/**
	 * Returns a page of records. `query` uses the model's field names; a missing property has the value of a request
	 * without parameters. `{ limit: 0 }` counts the records without reading any.
	 *
	 * @throws RestError `unavailable` if the store can't be reached; all operations throw it
	 */
	list<Answer = Promise<CrudPage>>(query?: Partial<CrudQuery>): NoInfer<Answer>
	list<Answer = Promise<CrudPage>>(query?: Partial<CrudQuery>): NoInfer<Answer>
	list(query?: Partial<CrudQuery>): unknown {
		return operation(this, 'list', listRecords(this, completeQuery(this[FACTS].defaultQuery, query)))
	}

	/** Returns one record. @throws RestError `not_found` if it doesn't exist, or isn't within the scope */
	read<Answer = Promise<CrudRecord>>(id: string): NoInfer<Answer>
	read<Answer = Promise<CrudRecord>>(id: CrudId): NoInfer<Answer>
	read(id: CrudId): unknown {
		return operation(this, 'read', readRecord(this, id))
	}

	/**
	 * Creates a record. A request's values are already checked; an override may add values for any field.
	 *
	 * @throws RestError `conflict` if it conflicts with an existing record, `invalid` if a value can't be stored
	 */
	create<Answer = Promise<CrudRecord>>(values: CrudValues): NoInfer<Answer>
	create<Answer = Promise<CrudRecord>>(values: CrudValues): NoInfer<Answer>
	create(values: CrudValues): unknown {
		return operation(this, 'create', createRecord(this, values))
	}

	/**
	 * Creates several records in one transaction, in the order given. If a subclass overrides `create()`, it is called for
	 * each. @throws RestError as `create`, with the record's place before its fields: `3.title`
	 */
	createMany<Answer = Promise<readonly CrudRecord[]>>(values: readonly CrudValues[]): NoInfer<Answer>
	createMany<Answer = Promise<readonly CrudRecord[]>>(values: readonly CrudValues[]): NoInfer<Answer>
	createMany(values: readonly CrudValues[]): unknown {
		return operation(this, 'createMany', createManyRecords(this, values))
	}

	/**
	 * Changes several records in one transaction. Each has its key, the fields to change and, optionally, the version that the
	 * record must still have. Returns the records in the order given. If a subclass overrides `update()`, it is called for each.
	 * @throws RestError as `update`, with the record's place before its fields: `3.title`
	 */
	updateMany<Answer = Promise<readonly CrudRecord[]>>(records: readonly CrudValues[]): NoInfer<Answer>
	updateMany<Answer = Promise<readonly CrudRecord[]>>(records: readonly CrudValues[]): NoInfer<Answer>
	updateMany(records: readonly CrudValues[]): unknown {
		return operation(this, 'updateMany', updateManyRecords(this, records))
	}

	/**
	 * Changes the given fields of a record; an empty object changes none.
	 *
	 * @throws RestError as `read` and `create`; `precondition_failed` if `If-Match` names another version
	 */
	update<Answer = Promise<CrudRecord>>(id: string, values: CrudValues): NoInfer<Answer>
	update<Answer = Promise<CrudRecord>>(id: CrudId, values: CrudValues): NoInfer<Answer>
	update(id: CrudId, values: CrudValues): unknown {
		return operation(this, 'update', changeRecord(this, 'update', id, values))
	}

	/** Replaces a record's updatable fields with `values`. @throws RestError as `update` */
	replace<Answer = Promise<CrudRecord>>(id: string, values: CrudValues): NoInfer<Answer>
	replace<Answer = Promise<CrudRecord>>(id: CrudId, values: CrudValues): NoInfer<Answer>
	replace(id: CrudId, values: CrudValues): unknown {
		return operation(this, 'replace', changeRecord(this, 'replace', id, values))
	}

	/** Deletes a record, and returns it as it was; with `softDelete`, marks it as deleted. @throws RestError as `update` */
	remove<Answer = Promise<CrudRecord>>(id: string): NoInfer<Answer>
	remove<Answer = Promise<CrudRecord>>(id: CrudId): NoInfer<Answer>
	remove(id: CrudId): unknown {
		return operation(this, 'remove', removeRecord(this, id))
	}

	/** Restores a record that `remove` has marked as deleted: see the option `softDelete`. @throws RestError as `update` */
	restore<Answer = Promise<CrudRecord>>(id: string): NoInfer<Answer>
	restore<Answer = Promise<CrudRecord>>(id: CrudId): NoInfer<Answer>
	restore(id: CrudId): unknown {
		return operation(this, 'restore', restoreRecord(this, id))
	}

	/**
	 * Returns totals of groups of records, as a JSON array. `query` uses the model's field names:
	 *
	 *     this.totals({ by: [{ name: 'state', field: 'state' }], totals: [{ op: 'count' }] })
	 *
	 * `stripObject` isn't called: groups aren't records.
	 *
	 * @throws RestError `bad_request` for more groups than `totals.maxGroups`, unless the query has a limit
	 */
	totals<Answer = Promise<RawJson>>(query: Partial<TotalsRequest>): NoInfer<Answer>
	totals<Answer = Promise<RawJson>>(query: Partial<TotalsRequest>): NoInfer<Answer>
	totals(query: Partial<TotalsRequest>): unknown {
		return operation(this, 'totals', totalRecords(this, completeTotals(query)))
	}

	/**
	 * Deletes the records that match, at most `maxBatch`, in one transaction, and returns their ids. If a subclass overrides
	 * `remove()`, it is called for each. @throws RestError as `remove`; `conflict` if more match
	 */
	removeMany<Answer = Promise<readonly string[]>>(where: Condition): NoInfer<Answer>
	removeMany<Answer = Promise<readonly string[]>>(where: Condition): NoInfer<Answer>
	removeMany(where: Condition): unknown {
		return operation(this, 'removeMany', removeManyRecords(this, where))
	}

	/** Creates records, or changes those with the same values in the unique fields `on`. @throws RestError as `createMany` */
	upsert<Answer = Promise<readonly CrudRecord[]>>(
		records: readonly CrudValues[],
		on: readonly string[],
	): NoInfer<Answer>
	upsert<Answer = Promise<readonly CrudRecord[]>>(
		records: readonly CrudValues[],
		on: readonly string[],
	): NoInfer<Answer>
	upsert(records: readonly CrudValues[], on: readonly string[]): unknown {
		return operation(this, 'upsert', upsertRecords(this, records, on))
	}

	/**
	 * Limits an operation to some records: the returned values are a condition of its query, and are set on new records.
	 * Called for each operation, including operations that a subclass's method calls.
	 *
	 *     override scope() { return { owner: this.user?.id } }
	 *     override scope(operation: CrudOperation) { return operation === 'read' ? {} : { owner: this.user?.id } }
	 *     override scope(): CrudScope<Db['note']> { return { or: [{ owner: this.user?.id ?? null }, { public: true }] } }
	 *
	 * If a condition is more than equality, a write that moves the record out of the scope is rolled back: 403. Conditions on
	 * related records see all of them, whatever the other handler's own scope. A value of `undefined` anywhere is an error, 500,
	 * so that a missing value never gives access to more records.
	 *
	 * @param operation the operation, whatever the request's method: `POST /5` is an `'update'`
	 * @default {} everything
	 */
	scope(operation: CrudOperation): CrudScope | Promise<CrudScope>
	scope(): CrudScope | Promise<CrudScope> {
		return {}
	}

	/**
	 * Narrows the fields for a request. Hidden ones are refused like unknown ones in queries, filters, relations and writes, and
	 * left out of answers; read-only ones are ignored in writes, like those that aren't `updatable`. Called once per request.
	 *
	 *     override fields() { return this.can('staff') ? {} : { hidden: ['salary'], readOnly: ['role'] } }
	 *
	 * @default {} no limits
	 */
	fields(): CrudFieldLimits | Promise<CrudFieldLimits> {
		return {}
	}

	/**
	 * Runs this request's statements as a role of PostgreSQL, with settings that its row level security reads. Called once per
	 * request, if an operation needs it. The session applies to each statement or transaction of the operations, and ends with
	 * it; reads run read-only. `this.model` itself has no session, just as it has no scope.
	 *
	 *     override session() {
	 *       return { role: 'web_user', settings: { 'request.jwt.claims': JSON.stringify({ sub: this.user?.id }) } }
	 *     }
	 *
	 * A role or a setting of `undefined` is an error, 500, so that a missing value never gives access to more records.
	 *
	 * @default {} the connection's own user
	 */
	session(): DatabaseSession | Promise<DatabaseSession> {
		return {}
	}

	/**
	 * Returns what a response shows of a record: by default its visible fields, and the related records that the client asks
	 * for. Called with each record, as an object.
	 */
	stripObject(record: Record<string, unknown>): unknown {
		const { visible, relations } = this[FACTS].plan
		const names = [...visible.keys(), ...relations.keys()].filter((name) => Object.hasOwn(record, name))
		return Object.fromEntries(names.map((name) => [name, record[name]]))
	}

	/**
	 * Returns this request's query, as `list` reads it: filters, search, sort, page and fields. For other methods that
	 * return lists:
	 *
	 *     get_public() { return this.list(this.listQuery(PUBLIC)) }
	 *
	 * @param where a condition that must hold as well
	 * @throws RestError `bad_request` as `list` does
	 */
	listQuery(where?: Condition): CrudQuery {
		return requestedList(this, where)
	}

	/**
	 * Fetches these fields with every record from now on, even if they are hidden or the client hasn't asked for them.
	 * `super.read()` and the other operations return them in `needed`; they aren't sent unless the override adds them:
	 *
	 *     override async read(id: string) {
	 *       this.needs('state')
	 *       const record = await super.read(id)
	 *       return record.needed.state === 'draft' ? this.error('Not Found', 404) : record
	 *     }
	 *
	 * @throws TypeError for an unknown field
	 */
	// Two identical overloads, as above: otherwise a `CrudHandler<Article>` would not be assignable to `CrudHandler`.
	needs<Name extends CrudFieldName<T>>(...fields: readonly Name[]): void
	needs<Name extends CrudFieldName<T>>(...fields: readonly Name[]): void
	needs(...fields: readonly string[]): void {
		exchangeOf(this, 'needs')
		const { owner, fields: known } = this[FACTS].plan
		const needed = fields.map((name) => {
			const field = known.get(name)
			if (field !== undefined) return field
			throw new TypeError(
				`${owner}.needs() was given ${name}, which is not a field${nearest(name, known.keys())}`,
			)
		})
		const own = this[STATE]
		const state = Object.isFrozen(own) ? beginState(this, own) : own
		state.needed = [...new Set([...state.needed, ...needed])]
	}

	/** @internal */
	[OWN_ANSWERS](view: CrudHandler, run: () => unknown): unknown {
		return ownAnswer(view, run)
	}

	/** @internal */
	[OWN_ACTIONS](guards: Guards, path: readonly string[]): readonly OwnAction[] {
		refuseFields(this)
		const facts = this[FACTS]
		checkRelations(facts.plan, guards)
		facts.paths.push(path)
		for (const [route, target] of Object.entries(this.customRoutes)) {
			if (OPERATIONS.includes(target as CrudOperation) && !facts.plan.allow.has(target as CrudOperation))
				throw new TypeError(
					`${facts.plan.owner}.customRoutes[${JSON.stringify(route)}] leads to ${target}, which isn't in allow`,
				)
		}
		const actions = [
			...crudActions(facts, guards.validator),
			...totalsActions(facts),
			...relationActions(facts, guards.validator),
		].map((action) => ({ ...action, isDecided: action.isDecided ?? isDecided(facts, action.name) }))
		return notingWriters(facts.plan, actions)
	}
}

/** The promise of an operation that a program calls; in a request, `begun` watches it. */
function operation<T>(handler: CrudHandler, name: CrudOperation, promise: Promise<T>): Promise<T> {
	return begun(findExchange(handler), `${handler[FACTS].plan.owner}.${name}()`, promise)
}

/** Whether `scope()`, `session()` or an override limits an operation, so that `access` needs no rule for it. */
function isDecided({ isScoped, plan, overridden }: CrudFacts, name: string): boolean {
	return isScoped || plan.sessionBy !== undefined || overridden.has(name as CrudOperation)
}

// Not a method: bundlers rename a class that refers to itself, and messages show the class's name.
function isOverridden(handler: CrudHandler, name: Overridable): boolean {
	return handler[name] !== CrudHandler.prototype[name]
}
