/** Checks the options of a `CrudHandler` that name fields or operations against its model. Called by `plan.ts`. */
import { nearest } from '../base/options.ts'
import { keyNames } from '../models/key.ts'
import type { Field, FieldType, Model } from '../models/model.ts'
import { GROUPS } from '../wire/list.ts'
import type { CrudField, FieldMap } from './fields.ts'
import { type CrudDialect, type CrudOperation, READS } from './options.ts'
import { whyUnstampable } from './stamps.ts'

const RELATION_NAME = /^[A-Za-z_][\w-]*$/

export function checkRelationNames(owner: string, relations: object, fields: FieldMap): void {
	for (const name of Object.keys(relations)) {
		const place = `${owner}: relations.${name}`
		if (fields.has(name))
			throw new TypeError(`${place} is the name of a field: give the relation another one`)
		if (!RELATION_NAME.test(name))
			throw new TypeError(`${place}: a name has letters, digits, _ and -, and begins with a letter or _`)
		if (GROUPS.some((group) => group === name))
			throw new TypeError(`${place}: filters use ${name} for groups of conditions: give it another name`)
	}
}

export function pick(
	owner: string,
	model: Model,
	option: string,
	names: readonly string[],
	fields: FieldMap,
): FieldMap {
	const picked = new Map<string, CrudField>()
	for (const name of names) {
		const field = fields.get(name)
		if (field === undefined)
			throw new TypeError(
				`${owner}: ${option}: ${model.name} has no column ${name}${nearest(name, fields.keys())}`,
			)
		picked.set(name, field)
	}
	return picked
}

export function filtered(fields: FieldMap, holds: (field: CrudField) => boolean): FieldMap {
	return new Map([...fields].filter(([, field]) => holds(field)))
}

export function keysOf(owner: string, model: Model, fields: FieldMap): CrudField[] {
	return keyNames(model).map((name) => {
		const key = [...fields.values()].find(({ field }) => field.name === name)
		if (key === undefined) throw new TypeError(`${owner}: ${model.name} has no field for its key, ${name}`)
		return key
	})
}

/** Whether values of a type can be sorted and grouped. */
export function isOrdered(type: FieldType): boolean {
	return type !== 'json' && type !== 'bytes' && type !== 'other'
}

export function whyUnsearchable({ type, wholeOnly }: Field): string | false {
	if (type !== 'text' && type !== 'other') return `is of type ${type}, not a text`
	return wholeOnly === true && 'has a nondeterministic collation, which can only compare whole texts'
}

/** Refuses hidden fields: sorting or filtering by one would reveal its values. */
export function refuseHidden(owner: string, option: string, fields: FieldMap, visible: FieldMap): FieldMap {
	for (const name of fields.keys()) {
		if (!visible.has(name))
			throw new TypeError(
				`${owner}: ${option}: ${name} isn't visible, and this would let clients infer its values: add it to visible`,
			)
	}
	return fields
}

export function refuse(
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

/** Refuses a default order by fields that aren't `sortable`, because cursors would reveal their values. */
export function refuseUnsortable(owner: string, sort: readonly string[], sortable: FieldMap): void {
	const named = sort.map((term) => sortTerm(term, sortable).name)
	for (const [at, name] of named.entries()) {
		if (!sortable.has(name))
			throw new TypeError(`${owner}: sort: ${name} isn't in sortable${nearest(name, sortable.keys())}`)
		if (named.indexOf(name) < at) throw new TypeError(`${owner}: sort names ${name} twice`)
	}
}

/** A term of `sort`: `title`, or `-title` for descending order. */
export function sortTerm(
	term: string,
	sortable: FieldMap,
): { readonly name: string; readonly descending: boolean } {
	const descending = term.startsWith('-') && !sortable.has(term)
	return { name: descending ? term.slice(1) : term, descending }
}

export function versionOf(
	owner: string,
	model: Model,
	name: string | undefined,
	fields: FieldMap,
): CrudField | undefined {
	const [version] = name === undefined ? [] : pick(owner, model, 'version', [name], fields).values()
	if (version === undefined) return undefined
	const { type, nullable, generated } = version.field
	const fits = (type === 'integer' || type === 'bigint') && !nullable && !generated
	if (fits && !keyNames(model).includes(version.field.name)) return version
	throw new TypeError(
		`${owner}: version: ${version.name} must be a column of whole numbers that is not null, not generated and not the key`,
	)
}

export function stampOf(
	owner: string,
	model: Model,
	option: 'touch' | 'softDelete',
	name: string | undefined,
	fields: FieldMap,
): CrudField | undefined {
	const picked = pick(owner, model, option, name === undefined ? [] : [name], fields)
	refuse(owner, option, picked, (field) => whyUnstampable(option, model, field))
	return [...picked.values()][0]
}

export function allowed(
	owner: string,
	model: Model,
	operations: readonly CrudOperation[],
): ReadonlySet<CrudOperation> {
	const [needsKey] = operations.filter((one) => one !== 'list' && one !== 'totals')
	if (needsKey !== undefined && keyNames(model).length === 0)
		throw new TypeError(
			`${owner}: allow: ${model.name} has no key, so its records can only be listed, and ${needsKey} can't be allowed: open it with { key: […] }`,
		)
	const write = operations.find((one) => !READS.includes(one))
	if (model.readOnly && write !== undefined)
		throw new TypeError(
			`${owner}: allow: ${model.name} can only be read, so ${write} can't be allowed${reasonOf(model)}`,
		)
	return new Set(operations)
}

/** The end of a message that a model is read-only: the reason, if it has one. */
export function reasonOf({ readOnlyReason }: Model): string {
	return readOnlyReason === undefined ? '' : `: ${readOnlyReason}`
}

/** @throws TypeError for records and operations that the clients of a dialect can't use */
export function checkDialect(
	owner: string,
	dialect: CrudDialect,
	keys: readonly CrudField[],
	visible: FieldMap,
	allow: ReadonlySet<CrudOperation>,
): void {
	if (keys.length !== 1 || keys[0]?.name !== 'id' || !visible.has('id'))
		throw new TypeError(
			`${owner}: dialect: clients of ${dialect} know a record by its field id: make the key visible, and name it so by columns: { id: '…' }`,
		)
	if (allow.has('replace'))
		throw new TypeError(
			`${owner}: allow has replace, but with dialect ${dialect} PUT changes part of a record: allow update instead`,
		)
}
