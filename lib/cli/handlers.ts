/** The handlers of a database's tables, as `verbena` serves them: every column, read only unless told otherwise. */
import { CrudHandler } from '../crud/crud-handler.ts'
import type { CrudOperation, CrudOptions } from '../crud/options.ts'
import type { AccessRules } from '../exchange/action.ts'
import { keyNames } from '../models/key.ts'
import type { Model } from '../models/model.ts'
import { type NamedRelations, relationsOf } from './relations.ts'

/** A table that is served, or why it isn't. */
export interface ServedTable {
	readonly name: string
	/** Its path: `/article`. */
	readonly path: string
	readonly model: Model
	readonly handler: CrudHandler
	/** The names of its relations. */
	readonly relations: readonly string[]
}

export interface Tables {
	readonly served: readonly ServedTable[]
	/** `secret: permission denied for table secret`. */
	readonly refused: readonly string[]
}

const WRITES: readonly CrudOperation[] = [
	...(['create', 'update', 'replace', 'remove'] as const),
	...(['createMany', 'updateMany', 'removeMany'] as const),
]

/** Each word of a search is compared with each field, and with a request's 10 comparisons two words are to be possible. */
const MOST_SEARCHED = 5

/**
 * Makes the handlers of all tables that can be read.
 *
 * @param models the tables and views by name
 * @param isWritable whether records can be created, changed and deleted, where the table can be written
 * @param access who may use them
 */
export async function tablesOf(
	models: ReadonlyMap<string, Model>,
	isWritable: boolean,
	access: string,
): Promise<Tables> {
	const refused: string[] = []
	const readable = new Map<string, Model>()
	const reasons = await Promise.all([...models.values()].map(whyUnreadable))
	for (const [at, [name, model]] of [...models].entries()) {
		const reason = reasons[at] ?? whyNoHandler(model)
		if (reason === undefined) readable.set(name, model)
		else refused.push(`${name}: ${reason}`)
	}
	const handlers = new Map<string, CrudHandler>()
	const relations = relationsOf(readable, (name) => {
		const handler = handlers.get(name)
		if (handler === undefined) throw new Error(`${name} is not served`)
		return handler
	})
	const paths = new Set<string>()
	const served = [...readable].map(([name, model]): ServedTable => {
		const own = relations.get(name) ?? {}
		const handler = handlerOf(model, isWritable, own, access)
		handlers.set(name, handler)
		return { name, path: pathOf(name, paths), model, handler, relations: Object.keys(own) }
	})
	return { served, refused }
}

/** A handler whose operations are for `access`. */
class Table extends CrudHandler {
	override readonly access: AccessRules

	constructor(model: Model, options: CrudOptions, access: string) {
		super(model, options)
		this.access = { '*': access }
	}
}

function handlerOf(
	model: Model,
	isWritable: boolean,
	relations: NamedRelations,
	access: string,
): CrudHandler {
	const keys = keyNames(model)
	const writable = model.fields.filter(({ generated }) => !generated).map(({ name }) => name)
	const options: CrudOptions = {
		visible: 'all',
		searchable: model.fields
			.filter(({ type }) => type === 'text')
			.slice(0, MOST_SEARCHED)
			.map(({ name }) => name),
		allow: keys.length === 0 ? ['list'] : ['list', 'read'],
		relations,
	}
	if (!isWritable || model.readOnly || keys.length === 0) return new Table(model, options, access)
	const updatable = writable.filter((name) => !keys.includes(name))
	const allow: CrudOptions['allow'] = ['list', 'read', ...WRITES]
	return new Table(model, { ...options, allow, creatable: writable, updatable }, access)
}

/** What the database says to a user who may not read a table. Views aren't tried: one may compute for minutes. */
async function whyUnreadable(model: Model): Promise<string | undefined> {
	if (keyNames(model).length === 0) return undefined
	const fields = model.fields.slice(0, 1).map(({ name }) => name)
	try {
		await model.list({
			selection: { fields, names: fields, version: undefined },
			...{ where: undefined, limit: 1, offset: 0, after: undefined, total: false },
			order: keyNames(model).map((field) => ({ field, descending: false })),
		})
		return undefined
	} catch (error) {
		return reasonOf(error)
	}
}

function whyNoHandler(model: Model): string | undefined {
	if (model.fields.length === 0) return 'it has no columns'
	try {
		handlerOf(model, false, {}, 'anyone')
		return undefined
	} catch (error) {
		return reasonOf(error)
	}
}

/** The message of what has caused an error: a model's own says that a store has failed, the driver's how. */
export function reasonOf(error: unknown): string {
	let cause = error
	while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause
	return cause instanceof Error && cause.message !== '' ? cause.message : String(cause)
}

/** A path that no other table has. */
function pathOf(name: string, taken: Set<string>): string {
	const base = name.replaceAll(/[^\p{L}\p{N}._~-]+/gu, '_').replace(/^\.+$/, '_')
	let path = base
	for (let at = 2; taken.has(path); at++) path = `${base}_${at}`
	taken.add(path)
	return path
}
