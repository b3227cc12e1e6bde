/**
 * `CrudPlan`: the options of a `CrudHandler`, checked against its model when the handler is constructed. Requests only
 * read it.
 */
import { optionsOf, shown, type Values } from '../base/options.ts'
import { keyNames } from '../models/key.ts'
import type { Condition, Field, Link, Model } from '../models/model.ts'
import { replicasOf } from '../models/replicas.ts'
import { PARAMETERS } from '../wire/list.ts'
import {
	allowed,
	checkDialect,
	checkRelationNames,
	filtered,
	isOrdered,
	keysOf,
	pick,
	refuse,
	refuseHidden,
	refuseUnsortable,
	stampOf,
	versionOf,
	whyUnsearchable,
} from './check-fields.ts'
import { type CrudField, crudFields, type FieldMap, Selections } from './fields.ts'
import type { CrudOperation, CrudOptions } from './options.ts'
import { READERS, type ReadRelation } from './read-options.ts'
import { living } from './stamps.ts'
import { idParser, type KeyReader, keyReaders } from './value-from-text.ts'

type Bounds =
	| ('limit' | 'maxLimit' | 'maxPageBytes' | 'maxTextTerms' | 'maxIn' | 'maxBatch')
	| ('maxImport' | 'maxTransfers')

export interface CrudPlan
	extends Pick<Values<typeof READERS>, Bounds | 'databaseMessages' | 'dialect' | 'totals' | 'upsertOn'> {
	/** Class name of the handler, for messages to programmers. */
	readonly owner: string
	readonly model: Model
	/** The handler whose `session()` says which model to use: see `session.ts`. `undefined` if it isn't overridden. */
	readonly sessionBy: object | undefined
	readonly hasReplicas: boolean
	/** All fields of the model, by their names for clients. */
	readonly fields: FieldMap
	/** Whether a field's name for clients isn't the model's. */
	readonly isRenamed: boolean
	/** The fields of the key, in its order; empty if the records can only be listed. */
	readonly keys: readonly CrudField[]
	/** By the names of the key's fields, in its order. */
	readonly keyReaders: ReadonlyMap<string, KeyReader>
	/** Returns an id in canonical form; `undefined` for a text that can't be one. */
	readonly idOf: KeyReader
	readonly isKeyVisible: boolean
	readonly visible: FieldMap
	readonly filterable: FieldMap
	readonly sortable: FieldMap
	/** The order if the client gives none, written as in a query. */
	readonly sort: readonly string[]
	readonly searchable: FieldMap
	readonly creatable: FieldMap
	readonly updatable: FieldMap
	readonly allow: ReadonlySet<CrudOperation>
	readonly ignoreQuery: ReadonlySet<string>
	readonly version: CrudField | undefined
	/** The fields of the options `touch` and `softDelete`. */
	readonly touch: CrudField | undefined
	readonly softDelete: CrudField | undefined
	/** The condition on records that aren't deleted, with `softDelete`. */
	readonly living: Condition | undefined
	readonly selections: Selections
	/** By their names for clients. Must not be read before the mount: the other handlers may be created later. */
	readonly relations: Relations
	/** Number of records in a list's page if the client gives no `limit`. */
	readonly listLimit: number
	/** Maximum depth of relations in a query. */
	readonly includeDepth: number
	/** The parameters of a list that aren't conditions. */
	readonly parameters: readonly (typeof PARAMETERS)[number][]
}

/** A relation of a handler's records to those of another handler, or of the same one. */
export interface Relation {
	readonly name: string
	readonly link: RelationLink
	/** The other handler, and its plan. */
	readonly handler: object
	readonly to: CrudPlan
	/** The operation of the other handler that a client must be allowed. */
	readonly operation: 'list' | 'read'
	/** Number of related records within each record, if the client gives no limit, and its maximum. */
	readonly limit: number
	readonly maxLimit: number
	/** This handler's model, if the foreign key is in the other records, or in the junction records, and in the same database. */
	readonly comparing: Model | undefined
	/** Whether clients can tie and untie records, many to many. */
	readonly canTie: boolean
	/** Whether related records may be created together with a new record. */
	readonly canCreate: boolean
	readonly isOverridden: boolean
	/** Whether a subclass overrides the other handler's `stripObject`. */
	readonly isStripped: boolean
	/** Whether filters and orders can use it. */
	readonly isJoined: boolean
}

export type Relations = ReadonlyMap<string, Relation>

export interface RelationLink extends Link {
	readonly relation: Relation
}

/** What a subclass overrides, as far as a plan depends on it. */
interface Overridden {
	/** The handler, if it overrides `session()`. */
	readonly sessionBy?: object | undefined
	/** Whether it overrides `create()`, which may make the key. @default false */
	readonly makesKeys?: boolean
}

/**
 * @throws TypeError without `visible`, for an unknown option or field, and for fields that an option can't be applied
 *   to
 * @throws RangeError for a number out of range
 */
export function crudPlan(
	className: string,
	model: Model,
	options: CrudOptions,
	resolve: (plan: CrudPlan, declared: Readonly<Record<string, ReadRelation>>) => Relations,
	{ sessionBy, makesKeys = false }: Overridden = {},
): CrudPlan {
	checkModel(className, model)
	const owner = className === 'CrudHandler' ? `CrudHandler of ${model.name}` : className
	checkVisible(owner, model, options)
	const given = optionsOf(owner, options, READERS)
	const { limit, maxLimit, maxPageBytes, maxTextTerms, maxIn, maxBatch, databaseMessages, totals, dialect } =
		given
	const { maxImport, maxTransfers } = given
	const fields = crudFields(owner, model, given.columns)
	const named = (option: string, names: readonly string[]) => pick(owner, model, option, names, fields)
	const visible = given.visible === 'all' ? fields : named('visible', given.visible)
	if (visible.size === 0)
		throw new TypeError(`${owner}: visible names no column: there are ${[...fields.keys()].join(', ')}`)
	const visibleOnly = (option: string, names: readonly string[]) =>
		refuseHidden(owner, option, named(option, names), visible)
	const ordered = filtered(visible, ({ field }) => isOrdered(field.type))
	const sortable = given.sortable === undefined ? ordered : visibleOnly('sortable', given.sortable)
	const searchable = visibleOnly('searchable', given.searchable)
	refuse(
		owner,
		'sortable',
		sortable,
		({ type }) => !isOrdered(type) && `is of type ${type}, which has no order`,
	)
	refuse(owner, 'searchable', searchable, whyUnsearchable)
	refuseUnsortable(owner, given.sort, sortable)
	if (limit > maxLimit)
		throw new RangeError(`${owner}: limit ${limit} is more than maxLimit ${maxLimit}: raise maxLimit`)
	if (searchable.size > maxTextTerms)
		throw new RangeError(
			`${owner}: searchable has ${searchable.size} fields, and each word of a search is looked for in all of them: raise maxTextTerms, which is ${maxTextTerms}`,
		)
	const updatable = named('updatable', given.updatable)
	const keys = keysOf(owner, model, fields)
	const readers = keyReaders(keys)
	const version = versionOf(owner, model, given.version, fields)
	const stamp = (option: 'touch' | 'softDelete') => stampOf(owner, model, option, given[option], fields)
	const [touch, softDelete] = [stamp('touch'), stamp('softDelete')]
	const creatable = named('creatable', given.creatable ?? given.updatable)
	const whyUnwritable = (field: Field) =>
		(field.generated && 'is written by the store alone') ||
		(field === version?.field && 'is the version, which every change increments') ||
		(field === touch?.field && 'is the time of the last change, which every change sets') ||
		(field === softDelete?.field && 'is the time of the deletion: allow remove and restore')
	// First, because `creatable` may be its default.
	refuse(owner, 'updatable', updatable, whyUnwritable)
	refuse(owner, 'creatable', creatable, whyUnwritable)
	const whyKey = ({ name }: Field) => keyNames(model).includes(name) && 'is the key, which never changes'
	refuse(owner, 'updatable', updatable, whyKey)
	const allow = allowed(
		owner,
		model,
		options.allow === undefined && keys.length === 0 ? ['list'] : given.allow,
	)
	if (allow.has('restore') && softDelete === undefined)
		throw new TypeError(
			`${owner}: allow has restore, which needs softDelete: the column with the time of the deletion`,
		)
	if (allow.has('restore') && Object.hasOwn(given.relations, 'restore'))
		throw new TypeError(
			`${owner}: relations.restore: POST /<id>/restore restores a record: give it another name`,
		)
	if (dialect !== undefined) checkDialect(owner, dialect, keys, visible, allow)
	checkRelationNames(owner, given.relations, fields)
	let relations: Relations | undefined
	return {
		get relations() {
			relations ??= resolve(this, given.relations)
			return relations
		},
		includeDepth: given.includeDepth,
		parameters: PARAMETERS.filter(
			(name) =>
				!(
					(name === 'search' && searchable.size === 0) ||
					(name === 'include' && Object.keys(given.relations).length === 0) ||
					(name === 'deleted' && !allow.has('restore'))
				),
		),
		...{ owner, model, sessionBy, hasReplicas: replicasOf(model) !== undefined },
		isRenamed: [...fields].some(([name, { field }]) => field.name !== name),
		...{ fields, visible, sortable, sort: given.sort, searchable, updatable, version, keys, touch },
		...{ softDelete, living: living({ softDelete }), upsertOn: given.upsertOn },
		...{ limit, maxLimit, maxPageBytes, maxTextTerms, maxIn, maxBatch, databaseMessages, totals, dialect },
		listLimit: dialect === undefined ? limit : maxLimit,
		...{ maxImport, maxTransfers },
		isKeyVisible: keys.length > 0 && keys.every(({ name }) => visible.has(name)),
		filterable: given.filterable === undefined ? visible : visibleOnly('filterable', given.filterable),
		creatable: new Map([...givenKeys(keys, makesKeys), ...creatable]),
		allow,
		ignoreQuery: new Set(given.ignoreQuery),
		selections: new Selections([...visible.values()], version),
		keyReaders: readers,
		idOf: idParser([...readers.values()]),
	}
}

/** Refuses `allow` with a create that can never succeed. @throws TypeError that names the columns without a value */
export function refuseImpossibleCreate(plan: CrudPlan): void {
	const { owner, model, creatable, allow } = plan
	if (!(['create', 'createMany', 'import'] as const).some((one) => allow.has(one))) return
	const missing = missingFields(plan, creatable)
	if (missing === '') return
	throw new TypeError(
		`${owner}: allow has create, but no ${model.name} could be made without ${missing}: make it creatable, or set it in scope() or create()`,
	)
}

/** The names of the fields that a new record would lack if only these could be written. */
export function missingFields({ fields, version, touch }: CrudPlan, writable: FieldMap): string {
	const missing = filtered(
		fields,
		({ name, field }) =>
			!(field.nullable || field.hasDefault || field.generated || writable.has(name)) &&
			field !== version?.field &&
			field !== touch?.field,
	)
	return [...missing.keys()].join(', ')
}

/** Key fields without a default come from clients, so they are always creatable; optional, if `create()` may make them. */
function givenKeys(keys: readonly CrudField[], makesKeys: boolean): [string, CrudField][] {
	return keys
		.filter(({ field }) => !field.hasDefault && !field.generated)
		.map((key) => [key.name, makesKeys ? { ...key, field: { ...key.field, hasDefault: true } } : key])
}

function checkModel(owner: string, model: unknown): void {
	const isModel =
		typeof model === 'object' && model !== null && 'list' in model && 'fields' in model && 'key' in model
	if (isModel) return
	const given = model === undefined || model === null ? 'none' : shown(model)
	const hint = model instanceof Promise ? 'a promise: await its open() first' : given
	throw new TypeError(
		`${owner} needs a model, such as a MemoryModel or the result of PostgresModel.open(), got ${hint}`,
	)
}

function checkVisible(owner: string, model: Model, options: unknown): void {
	if (typeof options === 'object' && options !== null && 'visible' in options && options.visible != null)
		return
	const columns = model.fields.map(({ name }) => name).join(', ')
	throw new TypeError(
		`${owner} needs the option visible, the columns that clients may see: ${model.name} has ${columns}; 'all' shows all of them`,
	)
}
