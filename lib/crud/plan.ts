/**
 * `CrudPlan`: the options of a `CrudHandler`, read and checked against its model when it is made. Requests only
 * read it.
 */
import { nearest } from '../base/options.ts'
import type { Bytes } from '../base/time.ts'
import type { Field, Model } from '../models/model.ts'
import { boundsOf } from './bounds.ts'
import { type MessageMap, readDatabaseMessages } from './database-messages.ts'
import { type CrudField, crudFields, isOrdered, isTextual } from './field.ts'
import { type CrudOperation, type CrudOptions, OPERATIONS } from './options.ts'
import { Selections } from './selections.ts'
import { idReader } from './value-from-text.ts'

export type FieldMap = ReadonlyMap<string, CrudField>

export interface CrudPlan {
	/** Class name of the handler, for messages to programmers. */
	readonly owner: string
	readonly model: Model
	/** All fields of the model, by the names of clients. */
	readonly fields: FieldMap
	readonly key: CrudField
	readonly isKeyVisible: boolean
	readonly visible: FieldMap
	readonly filterable: FieldMap
	readonly sortable: FieldMap
	readonly searchable: FieldMap
	readonly creatable: FieldMap
	readonly updatable: FieldMap
	readonly allow: ReadonlySet<CrudOperation>
	readonly limit: number
	readonly maxLimit: number
	readonly maxPageBytes: Bytes
	readonly maxTextTerms: number
	readonly maxIn: number
	readonly ignoreQuery: ReadonlySet<string>
	readonly version: CrudField | undefined
	readonly databaseMessages: MessageMap
	readonly selections: Selections
	/** The id that a segment of a URL stands for; `undefined` where it can be none. */
	readonly idOf: (segment: string) => string | undefined
}

const NAMES: readonly (keyof CrudOptions)[] = [
	'visible',
	'updatable',
	'creatable',
	'filterable',
	'sortable',
	'searchable',
	'allow',
	'rules',
	'columns',
	'limit',
	'maxLimit',
	'maxPageBytes',
	'maxTextTerms',
	'maxIn',
	'ignoreQuery',
	'databaseMessages',
	'version',
]

/**
 * @throws TypeError for an option or a field that there isn't, naming what was meant; without `visible`; for
 *   fields that can't be what they are said to be
 * @throws RangeError for a number out of range
 */
export function crudPlan(owner: string, model: Model, options: CrudOptions): CrudPlan {
	checkModel(owner, model)
	checkNames(owner, model, options)
	const fields = crudFields(owner, model, options.columns)
	const named = (option: keyof CrudOptions, names: unknown) => pick(owner, model, option, names, fields)
	const visible = options.visible === 'all' ? fields : named('visible', options.visible)
	if (visible.size === 0) throw noneVisible(owner, fields)
	const within = (option: 'filterable' | 'sortable' | 'searchable', names: unknown) =>
		withinVisible(owner, option, named(option, names), visible)
	const ordered = only(visible, ({ field }) => isOrdered(field.type))
	const sortable = options.sortable === undefined ? ordered : within('sortable', options.sortable)
	const searchable = within('searchable', options.searchable ?? [])
	refuse(
		owner,
		'sortable',
		sortable,
		({ type }) => !isOrdered(type) && `is of type ${type}, which has no order`,
	)
	refuse(owner, 'searchable', searchable, whyUnsearchable)
	const bounds = boundsOf(owner, options)
	if (searchable.size > bounds.maxTextTerms)
		throw new RangeError(
			`${owner}: searchable has ${searchable.size} fields, and each word of a search is looked for in all of them: raise maxTextTerms, which is ${bounds.maxTextTerms}`,
		)
	const updatable = named('updatable', options.updatable ?? [])
	const key = only(fields, ({ field }) => field.name === model.key)
	const [own] = key.values()
	if (own === undefined)
		throw new TypeError(`${owner}: ${model.name} has no field ${model.key}, which is its key`)
	const version = versionOf(owner, model, options.version, fields)
	const creatable = named('creatable', options.creatable ?? options.updatable ?? [])
	const unwritable = (field: Field) =>
		(field.generated && 'is written by the store alone') ||
		(field.name === version?.field.name && 'is the version, which every change raises')
	refuse(owner, 'creatable', creatable, unwritable)
	refuse(owner, 'updatable', updatable, unwritable)
	refuse(owner, 'updatable', updatable, ({ name }) => name === model.key && 'is the key, which never changes')
	const isGiven = !own.field.hasDefault && !own.field.generated
	return {
		...{ owner, model, fields, visible, sortable, searchable, updatable, version, key: own },
		isKeyVisible: visible.has(own.name),
		filterable: options.filterable === undefined ? visible : within('filterable', options.filterable),
		// Who makes a record whose key the store doesn't make must give it.
		creatable: isGiven ? new Map([...key, ...creatable]) : creatable,
		allow: allowed(owner, model, options.allow ?? ['list', 'read']),
		...bounds,
		ignoreQuery: new Set(texts(owner, 'ignoreQuery', options.ignoreQuery ?? [])),
		databaseMessages: readDatabaseMessages(owner, options.databaseMessages),
		selections: new Selections([...visible.values()], version),
		idOf: idReader(own.field),
	}
}

/**
 * Refuses a create that could never succeed.
 *
 * @throws TypeError that names the columns for which nobody gives a value
 */
export function refuseUnmakeable({ owner, model, fields, creatable, version, allow }: CrudPlan): void {
	if (!allow.has('create')) return
	const missing = [...fields.values()].filter(
		({ name, field }) =>
			!field.nullable &&
			!field.hasDefault &&
			!field.generated &&
			!creatable.has(name) &&
			field !== version?.field,
	)
	if (missing.length === 0) return
	throw new TypeError(
		`${owner}: allow has create, but no ${model.name} could be made without ${missing.map(({ name }) => name).join(', ')}: make it creatable, or set it in scope() or create()`,
	)
}

function checkModel(owner: string, model: unknown): void {
	const isModel =
		typeof model === 'object' && model !== null && 'list' in model && 'fields' in model && 'key' in model
	if (isModel) return
	const hint = model instanceof Promise ? 'a promise: await its open() first' : 'none'
	throw new TypeError(
		`${owner} needs a model, such as a MemoryModel or what PostgresModel.open() answers, got ${hint}`,
	)
}

function checkNames(owner: string, model: Model, options: unknown): void {
	if (typeof options !== 'object' || options === null || !('visible' in options) || options.visible == null) {
		throw new TypeError(
			`${owner} needs the option visible, the columns that clients may see: ${model.name} has ${model.fields.map(({ name }) => name).join(', ')}; 'all' is a choice`,
		)
	}
	const unknown = Object.keys(options).find((name) => !(NAMES as readonly string[]).includes(name))
	if (unknown !== undefined)
		throw new TypeError(`${owner} has no option ${unknown}${nearest(unknown, NAMES)}`)
}

function noneVisible(owner: string, fields: FieldMap): TypeError {
	return new TypeError(`${owner}: visible names no column: there are ${[...fields.keys()].join(', ')}`)
}

function pick(owner: string, model: Model, option: string, names: unknown, fields: FieldMap): FieldMap {
	const picked = new Map<string, CrudField>()
	for (const name of texts(owner, option, names)) {
		const field = fields.get(name)
		if (field === undefined)
			throw new TypeError(
				`${owner}: ${option}: ${model.name} has no column ${name}${nearest(name, fields.keys())}`,
			)
		picked.set(name, field)
	}
	return picked
}

function texts(owner: string, option: string, names: unknown): readonly string[] {
	if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names
	const or = option === 'visible' ? ", or 'all'" : ''
	throw new TypeError(`${owner}: ${option} must be an array of names${or}`)
}

function only(fields: FieldMap, holds: (field: CrudField) => boolean): FieldMap {
	return new Map([...fields].filter(([, field]) => holds(field)))
}

function whyUnsearchable({ type, wholeOnly }: Field): string | false {
	if (!isTextual(type)) return `is of type ${type}, not a text`
	return (
		wholeOnly === true && 'has a collation that is not deterministic, whose texts are only compared whole'
	)
}

/** Who may sort or filter by a hidden field finds out what is in it. */
function withinVisible(owner: string, option: string, fields: FieldMap, visible: FieldMap): FieldMap {
	for (const name of fields.keys()) {
		if (!visible.has(name))
			throw new TypeError(
				`${owner}: ${option}: ${name} isn't visible, and could be found out by it: add it to visible`,
			)
	}
	return fields
}

function refuse(
	owner: string,
	option: string,
	fields: FieldMap,
	why: (field: Field) => string | false,
): void {
	for (const { name, field } of fields.values()) {
		const reason = why(field)
		if (reason !== false) throw new TypeError(`${owner}: ${option}: ${name} ${reason}`)
	}
}

function versionOf(owner: string, model: Model, name: unknown, fields: FieldMap): CrudField | undefined {
	if (name === undefined) return undefined
	const [field] = pick(owner, model, 'version', [name], fields).values()
	if (field === undefined) return undefined
	const { type, nullable, generated } = field.field
	const fits = (type === 'integer' || type === 'bigint') && !nullable && !generated
	if (fits && field.field.name !== model.key) return field
	throw new TypeError(
		`${owner}: version: ${field.name} must be a column of whole numbers that is not null, not generated and not the key`,
	)
}

function allowed(owner: string, model: Model, names: unknown): ReadonlySet<CrudOperation> {
	const allow = new Set<CrudOperation>()
	for (const name of texts(owner, 'allow', names)) {
		const operation = OPERATIONS.find((one) => one === name)
		if (operation === undefined)
			throw new TypeError(`${owner}: allow: there is no operation ${name}${nearest(name, OPERATIONS)}`)
		if (model.readOnly && operation !== 'list' && operation !== 'read')
			throw new TypeError(`${owner}: allow: ${model.name} can only be read, so that ${name} can't be allowed`)
		allow.add(operation)
	}
	return allow
}
