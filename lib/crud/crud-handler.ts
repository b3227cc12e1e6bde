/** `CrudHandler`: a model as an API: list, read, create, update, replace, remove. */
import { RestHandler } from '../handler.ts'
import { OWN_ACTIONS, type OwnAction } from '../mount/own-actions.ts'
import type { Validator } from '../validate/validator.ts'
import { crudActions } from './crud-actions.ts'
import { type CrudOperation, type CrudOptions, OPERATIONS } from './crud-options.ts'
import { crudPlan, refuseUnmakeable } from './crud-plan.ts'
import { changeRecord, createRecord, listRecords, readRecord, removeRecord } from './crud-store.ts'
import { ASKED, type Asked, askedFor, type CrudFacts, FACTS } from './crud-view.ts'
import { type CrudQuery, plainQuery } from './list-query.ts'
import type { Model } from './model.ts'

/**
 * What the operations answer: a {@link CrudRecord} or a {@link CrudPage}, whose JSON the database has written, by a
 * promise; from a subclass whatever it likes. This is what `JSON.parse` answers, because no other type lets an
 * override return something else and still lets `super.read(id)` be used: say `const record: CrudRecord = await …`.
 */
export type CrudAnswer = ReturnType<(typeof JSON)['parse']>

/** Values by the names of fields, of `create`, `update` and `replace`. */
export type CrudValues = Readonly<Record<string, unknown>>

/** What records a request is confined to: each field's value, or several of which it has one. */
export type CrudScope = Readonly<Record<string, unknown>>

/**
 * A model as an API below the path where it is mounted; `access` knows the operations by their names.
 *
 *     new CrudHandler(await PostgresModel.open(pool, 'article'), {
 *       visible: ['id', 'title'], updatable: ['title'], allow: ['list', 'read', 'update'],
 *     })
 *     GET /article?limit=2    200 {"success":true,"data":[{"id":1,"title":"A"},…],"meta":{"limit":2,…}}
 *     GET /article/1          200 {"success":true,"data":{"id":1,"title":"A"}}
 *     PATCH /article/1        200, the record as it is now
 *
 * A subclass may override the operations, `scope` and `stripObject`, and add methods such as `get_stats()`.
 */
export class CrudHandler extends RestHandler {
	readonly model: Model
	/** @internal */
	readonly [FACTS]: CrudFacts
	/** @internal */
	readonly [ASKED]: Asked

	/**
	 * @throws TypeError without `visible`, and for options and columns that there aren't
	 * @throws RangeError for limits that aren't whole numbers from 1 up
	 */
	constructor(model: Model, options: CrudOptions) {
		super()
		const plan = crudPlan(new.target.name || 'CrudHandler', model, options)
		const own = CrudHandler.prototype
		const overridden = new Set(OPERATIONS.filter((name) => this[name] !== own[name]))
		const isScoped = this.scope !== own.scope
		const strips = this.stripObject !== own.stripObject
		if (!isScoped && !overridden.has('create')) refuseUnmakeable(plan)
		this.model = model
		this[FACTS] = {
			...{ plan, isScoped, strips, overridden, rules: options.rules ?? {}, plainQuery: plainQuery(plan) },
			isPlainRead: plan.version === undefined && !strips && !overridden.has('read'),
		}
		this[ASKED] = Object.freeze(askedFor(plan.selections.all))
	}

	/**
	 * A page of records. An override may narrow `query`, which names fields as the model does.
	 *
	 * @throws RestError `unavailable` when the store can't be reached; all operations do
	 */
	list(query: CrudQuery = this[FACTS].plainQuery): CrudAnswer {
		return listRecords(this, query)
	}

	/** One record. @throws RestError `not_found` when there is none, or none within the scope */
	read(id: string): CrudAnswer {
		return readRecord(this, id)
	}

	/**
	 * Makes a record. `values` are checked where they come from a request; an override may add those of any field.
	 *
	 * @throws RestError `conflict` with a record that is there, `invalid` for what can't be stored
	 */
	create(values: CrudValues): CrudAnswer {
		return createRecord(this, values)
	}

	/**
	 * Changes the given fields of a record, none of them for an empty object.
	 *
	 * @throws RestError as `read` and `create`; `precondition_failed` where `If-Match` names another version
	 */
	update(id: string, values: CrudValues): CrudAnswer {
		return changeRecord(this, 'update', id, values)
	}

	/** Replaces a record's updatable fields: `values` has all of them. @throws RestError as `update` */
	replace(id: string, values: CrudValues): CrudAnswer {
		return changeRecord(this, 'replace', id, values)
	}

	/** Deletes a record, and answers it as it was. @throws RestError as `update` */
	remove(id: string): CrudAnswer {
		return removeRecord(this, id)
	}

	/**
	 * What the request is confined to: added to every query, and set on new records.
	 *
	 *     override scope() { return { owner: this.user?.id } }
	 *
	 * An `undefined` in it is an error, 500: it never widens what is shown.
	 *
	 * @default {} everything
	 */
	scope(): CrudScope | Promise<CrudScope> {
		return {}
	}

	/** What is answered of a record: here its visible fields. A subclass's is given every record as an object. */
	stripObject(record: Record<string, unknown>): unknown {
		const names = [...this[FACTS].plan.visible.keys()].filter((name) => Object.hasOwn(record, name))
		return Object.fromEntries(names.map((name) => [name, record[name]]))
	}

	/** @internal */
	[OWN_ACTIONS](validator: Validator | undefined): readonly OwnAction[] {
		refuseFields(this)
		const facts = this[FACTS]
		for (const [route, target] of Object.entries(this.customRoutes)) {
			if (OPERATIONS.includes(target as CrudOperation) && !facts.plan.allow.has(target as CrudOperation))
				throw new TypeError(
					`${facts.plan.owner}.customRoutes[${JSON.stringify(route)}] leads to ${target}, which isn't in allow`,
				)
		}
		return crudActions(facts, validator)
	}
}

/** A function held in a field would be seen too late, and its `this` would be the shared handler. */
function refuseFields(handler: CrudHandler): void {
	for (const name of [...OPERATIONS, 'scope', 'stripObject']) {
		if (Object.hasOwn(handler, name))
			throw new TypeError(
				`${handler.constructor.name}.${name} is a field, whose \`this\` would be the shared handler and not the request's view: write a method, ${name}(…) { … }`,
			)
	}
}
