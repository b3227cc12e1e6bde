/** The handlers of a database's tables, as `verbena` serves them: every column, read-only by default. */
import { CrudHandler } from '../crud/crud-handler.ts'
import type { CrudOperation, CrudOptions } from '../crud/options.ts'
import { keyNames } from '../models/key.ts'
import type { Model } from '../models/model.ts'
import { isPassing, reasonOf } from './problems.ts'
import { relationsOf, type TableRelations } from './relations.ts'

/** A table that can be served, and how. */
export interface TablePlan {
	readonly name: string
	/** Its path, without a leading slash. */
	readonly path: string
	readonly model: Model
	/** Without the relations. */
	readonly options: CrudOptions
	readonly relations: TableRelations
}

export interface Plans {
	readonly plans: readonly TablePlan[]
	/** Why other tables aren't served: `secret: permission denied for table secret`. */
	readonly refused: readonly string[]
}

const WRITES: readonly CrudOperation[] = [
	...(['create', 'update', 'replace', 'remove'] as const),
	...(['createMany', 'updateMany', 'removeMany'] as const),
]

/** A search compares each word with each of these fields. A request may have 10 comparisons: enough for two words. */
const MOST_SEARCHED = 5

/**
 * Plans all tables that can be read.
 *
 * @param models the tables and views by name
 * @param isWritable whether records can be created, changed and deleted, where the table can be written
 */
export async function plansOf(models: ReadonlyMap<string, Model>, isWritable: boolean): Promise<Plans> {
	const refused: string[] = []
	const readable = new Map<string, Model>()
	const reasons = await Promise.all([...models.values()].map(whyUnreadable))
	for (const [at, [name, model]] of [...models].entries()) {
		const reason = reasons[at] ?? whyNoHandler(model)
		if (reason === undefined) readable.set(name, model)
		else refused.push(`${name}: ${reason}`)
	}
	const relations = relationsOf(readable, isWritable)
	// The server's own path.
	const paths = new Set(['openapi.json'])
	const plans = [...readable].map(([name, model]): TablePlan => {
		const options = optionsFor(model, isWritable)
		return { name, path: pathOf(name, paths), model, options, relations: relations.get(name) ?? {} }
	})
	return { plans, refused }
}

/** The handlers of tables by path. @param access who may use them, for all operations. @default anyone */
export function handlersOf(plans: readonly TablePlan[], access?: string): Record<string, CrudHandler> {
	const handlers = new Map<string, CrudHandler>()
	const modelOf = (name: string | undefined) => plans.find((plan) => plan.name === name)?.model
	const handlerOf = (name: string) => {
		const handler = handlers.get(name)
		if (handler === undefined) throw new Error(`${name} is not served`)
		return handler
	}
	return Object.fromEntries(
		plans.map(({ name, path, model, options, relations }) => {
			const related = Object.entries(relations).map(([relation, { target, through, ...rest }]) => {
				const between = modelOf(through)
				const to = { to: () => handlerOf(target), ...rest }
				return [relation, between === undefined ? to : { ...to, through: between }]
			})
			const all = { ...options, relations: Object.fromEntries(related) }
			const handler = new CrudHandler(model, all)
			if (access !== undefined) Object.assign(handler, { access: { '*': access } })
			handlers.set(name, handler)
			return [path, handler]
		}),
	)
}

function optionsFor(model: Model, isWritable: boolean): CrudOptions {
	const keys = keyNames(model)
	const writable = model.fields.filter(({ generated }) => !generated).map(({ name }) => name)
	const searchable = model.fields.filter(({ type }) => type === 'text').map(({ name }) => name)
	const options: CrudOptions = {
		visible: model.fields.map(({ name }) => name),
		searchable: searchable.slice(0, MOST_SEARCHED),
	}
	if (keys.length === 0) return { ...options, allow: ['list'] }
	if (!isWritable || model.readOnly) return { ...options, allow: ['list', 'read', 'export'] }
	const updatable = writable.filter((name) => !keys.includes(name))
	return { ...options, creatable: writable, updatable, allow: ['list', 'read', 'export', ...WRITES] }
}

/**
 * Why the user may not read a table. One without a key isn't tried: it may be a view that takes minutes.
 *
 * @throws ModelError if the database can't be reached
 */
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
		if (isPassing(error)) throw error
		return reasonOf(error)
	}
}

function whyNoHandler(model: Model): string | undefined {
	if (model.fields.length === 0) return 'it has no columns'
	try {
		new CrudHandler(model, optionsFor(model, false))
		return undefined
	} catch (error) {
		return reasonOf(error)
	}
}

/** A path that no other table has. */
function pathOf(name: string, taken: Set<string>): string {
	// A JSON file may name a table '', but the root is the explorer's.
	const base = name.replaceAll(/[^\p{L}\p{N}._~-]+/gu, '_').replace(/^\.*$/, '_')
	let path = base
	for (let at = 2; taken.has(path); at++) path = `${base}_${at}`
	taken.add(path)
	return path
}
