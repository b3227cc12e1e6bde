/**
 * Derives relations from foreign keys, and names them: `author_id` in `article` gives articles the relation `author`, and
 * authors `article`; a table whose key consists of two foreign keys is a junction table, for many to many.
 */
import { missingInTies } from '../crud/relations/relations.ts'
import { isSameFields, keyNames } from '../models/key.ts'
import type { Model, Reference } from '../models/model.ts'

/** A relation of a table. It names tables; the rest is as in the option `relations` of a `CrudHandler`. */
export interface TableRelation {
	readonly target: string
	readonly by?: readonly string[]
	readonly many?: boolean
	/** The junction table. */
	readonly through?: string
	/** Set if junction records need only their two keys, and can be written: then records can be tied and untied. */
	readonly writable?: readonly 'tie'[]
}

/** A table's relations by their names for clients. */
export type TableRelations = Readonly<Record<string, TableRelation>>

interface ForeignKey extends Reference {
	readonly from: string
	readonly target: string
	/** Whether another foreign key leads from the same table to the same target. */
	readonly isOneOfSeveral: boolean
}

/** The relations of each table; those without a key have none. */
export function relationsOf(
	models: ReadonlyMap<string, Model>,
	isWritable: boolean,
): ReadonlyMap<string, TableRelations> {
	const keyed = [...models].filter(([, model]) => keyNames(model).length > 0)
	const keyedModels = new Map(keyed)
	const keys = keyed.flatMap(([name]) => foreignKeysOf(name, keyedModels))
	const found = new Map(keyed.map(([name]): [string, Record<string, TableRelation>] => [name, {}]))
	/** Adds a relation under the first of these names that is free. */
	const add = (name: string, names: readonly string[], relation: TableRelation) => {
		const own = found.get(name)
		const model = models.get(name)
		if (own === undefined || model === undefined) return
		const isTaken = (one: string) =>
			// Assigning `__proto__` would set the prototype.
			one === '__proto__' || Object.hasOwn(own, one) || model.fields.some((field) => field.name === one)
		const free = names.map(plain).find((one) => one !== '' && !isTaken(one))
		if (free !== undefined) own[free] = relation
	}
	/** Whether two tables refer to each other, so that the columns alone may not say which key is meant. */
	const isMutual = ({ from, target }: ForeignKey) =>
		from !== target && keys.some((other) => other.from === target && other.target === from)
	for (const key of keys) {
		const { from, target, fields } = key
		const base = fields.length === 1 ? (fields[0] ?? '').replace(/(?:_id|Id|_fk)$/, '') : ''
		const many = isMutual(key) ? { many: false } : {}
		add(from, [base, target, `${target}_by_${fields.join('_')}`], { target, by: fields, ...many })
	}
	for (const key of keys) {
		const { from, target, fields, isOneOfSeveral } = key
		const by = `${from}_by_${fields.join('_')}`
		const isOne = from !== target && isSameFields(fields, keyOf(models, from))
		const many = isOne ? { many: false } : from === target || isMutual(key) ? { many: true } : {}
		const names = isOneOfSeveral || from === target ? [by] : [from, by]
		add(target, names, { target: from, by: fields, ...many })
	}
	for (const [name, through] of keyed) {
		const [first, second, third] = keys.filter(({ from }) => from === name)
		if (first === undefined || second === undefined || third !== undefined) continue
		if (
			first.target === second.target ||
			!isSameFields([...first.fields, ...second.fields], keyNames(through))
		)
			continue
		const isTieable =
			isWritable && !through.readOnly && missingInTies(through, keyNames(through)) === undefined
		const ties = isTieable ? { writable: ['tie'] as const } : {}
		for (const [one, { target }] of [
			[first, second],
			[second, first],
		] as const)
			add(one.target, [target, `${target}_by_${name}`], { target, through: name, ...ties })
	}
	return found
}

function foreignKeysOf(from: string, models: ReadonlyMap<string, Model>): ForeignKey[] {
	const model = models.get(from)
	return [...models].flatMap(([target, other]) => {
		const all = model?.references?.(other) ?? []
		// A relation is identified by its columns: with (a, b) and (b, a) to the same table, neither could be.
		const references = all.filter(
			(one) => !all.some((other) => other !== one && isSameFields(other.fields, one.fields)),
		)
		const isOneOfSeveral = references.length > 1
		return references.map((reference) => ({ ...reference, from, target, isOneOfSeveral }))
	})
}

function keyOf(models: ReadonlyMap<string, Model>, name: string): readonly string[] {
	const model = models.get(name)
	return model === undefined ? [] : keyNames(model)
}

/** A name that can stand in a URL and in `a.b`. */
function plain(name: string): string {
	return name.replaceAll(/[^\p{L}\p{N}_-]+/gu, '_')
}
