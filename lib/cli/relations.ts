/**
 * The relations that foreign keys mean, with names for clients: `author_id` of an article makes `author` there, and
 * `article` at the author; a table whose key is two foreign keys ties many to many.
 */
import type { CrudRelation, RelatedHandler } from '../crud/options.ts'
import { keyNames } from '../models/key.ts'
import type { Model, Reference } from '../models/model.ts'

/** The option `relations` of a handler. */
export type NamedRelations = Readonly<Record<string, CrudRelation>>

interface ForeignKey extends Reference {
	readonly from: string
	readonly target: string
	/** Whether another one leads from the same table to the same target. */
	readonly isOneOfSeveral: boolean
}

/**
 * The relations of each model.
 *
 * @param models the tables by name; those without a key have none
 * @param handlerOf the handler of a table; called when relations are resolved
 */
export function relationsOf(
	models: ReadonlyMap<string, Model>,
	handlerOf: (name: string) => RelatedHandler,
): ReadonlyMap<string, NamedRelations> {
	const keyed = [...models].filter(([, model]) => keyNames(model).length > 0)
	const keys = keyed.flatMap(([name]) => foreignKeysOf(name, new Map(keyed)))
	const found = new Map(keyed.map(([name]): [string, Record<string, CrudRelation>] => [name, {}]))
	/** Adds it by the first name that is free. */
	const add = (
		name: string,
		names: readonly string[],
		relation: Omit<CrudRelation, 'to'>,
		target: string,
	) => {
		const own = found.get(name)
		const model = models.get(name)
		if (own === undefined || model === undefined) return
		const isTaken = (one: string) =>
			Object.hasOwn(own, one) || model.fields.some((field) => field.name === one)
		const free = names.map(plain).find((one) => one !== '' && !isTaken(one))
		if (free !== undefined) own[free] = { to: () => handlerOf(target), ...relation }
	}
	for (const { from, target, fields } of keys) {
		const base = fields.length === 1 ? (fields[0] ?? '').replace(/(?:_id|Id|_fk)$/, '') : ''
		add(from, [base, target, `${target}_by_${fields.join('_')}`], { by: fields, many: false }, target)
	}
	for (const { from, target, fields, isOneOfSeveral } of keys) {
		const by = `${from}_by_${fields.join('_')}`
		const isOne = from !== target && isSame(fields, keyOf(models, from))
		add(target, isOneOfSeveral || from === target ? [by] : [from, by], { by: fields, many: !isOne }, from)
	}
	for (const [name, through] of keyed) {
		const [first, second, third] = keys.filter(({ from }) => from === name)
		if (first === undefined || second === undefined || third !== undefined) continue
		if (first.target === second.target || !isSame([...first.fields, ...second.fields], keyNames(through)))
			continue
		add(first.target, [second.target, `${second.target}_by_${name}`], { through }, second.target)
		add(second.target, [first.target, `${first.target}_by_${name}`], { through }, first.target)
	}
	return found
}

function foreignKeysOf(from: string, models: ReadonlyMap<string, Model>): ForeignKey[] {
	const model = models.get(from)
	return [...models].flatMap(([target, other]) => {
		const references = model?.references?.(other) ?? []
		const isOneOfSeveral = references.length > 1
		return references.map((reference) => ({ ...reference, from, target, isOneOfSeveral }))
	})
}

function keyOf(models: ReadonlyMap<string, Model>, name: string): readonly string[] {
	const model = models.get(name)
	return model === undefined ? [] : keyNames(model)
}

function isSame(fields: readonly string[], others: readonly string[]): boolean {
	return fields.length === others.length && fields.every((field) => others.includes(field))
}

/** A name that can stand in a URL and in `a.b`. */
function plain(name: string): string {
	return name.replaceAll(/[^\p{L}\p{N}_-]+/gu, '_')
}
