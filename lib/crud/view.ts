/**
 * What the steps of a `CrudHandler` know of it: facts that are settled when it is made, and what one request asks.
 */
import { nearest } from '../base/options.ts'
import type { Selection } from '../models/model.ts'
import type { PageMeta } from '../wire/list.ts'
import type { CrudField } from './fields.ts'
import type { CrudQuery } from './list-query.ts'
import type { CrudOperation, CrudRules } from './options.ts'
import type { CrudPlan } from './plan.ts'
import type { WrittenValues } from './write.ts'

export const FACTS: unique symbol = Symbol('verbena.crud')
export const ASKED: unique symbol = Symbol('verbena.crudAsked')

export interface CrudFacts {
	readonly plan: CrudPlan
	readonly rules: CrudRules
	/** The query of a list without parameters. */
	readonly plainQuery: CrudQuery
	/** Whether a subclass has a `scope()`. */
	readonly isScoped: boolean
	/** Whether a subclass has a `stripObject()`, so that all records go through it. */
	readonly strips: boolean
	/** The operations that a subclass has changed. */
	readonly overridden: ReadonlySet<CrudOperation>
	/** Whether a read is nothing but the model's text. */
	readonly isPlainRead: boolean
}

/** What one request asks beside its id and values, and what became of it. The handler's own is never changed. */
export interface Asked {
	readonly selection: Selection
	/** Fields that a subclass needs beside those; in no answer. */
	needed: readonly CrudField[]
	/** The version that the record must have. */
	version: string | undefined
	/** The id of the record that was made. */
	createdId: string | undefined
	/** Of the page that was read. */
	page: PageMeta | undefined
}

/** A `CrudHandler`, as far as its steps use it. */
export interface CrudView {
	readonly [FACTS]: CrudFacts
	readonly [ASKED]: Asked
	list(query: CrudQuery): unknown
	read(id: string): unknown
	create(values: WrittenValues): unknown
	update(id: string, values: WrittenValues): unknown
	replace(id: string, values: WrittenValues): unknown
	remove(id: string): unknown
	scope(operation: CrudOperation): unknown
	stripObject(record: Record<string, unknown>): unknown
	header(name: string, value: string): void
	status(code: number): void
}

export function askedFor(selection: Selection): Asked {
	return { selection, needed: [], version: undefined, createdId: undefined, page: undefined }
}

/** Gives a request its own: a plain assignment would fail, as the handler below the view is frozen. */
export function ask(view: CrudView, selection: Selection): Asked {
	const asked = askedFor(selection)
	Object.defineProperty(view, ASKED, { value: asked })
	return asked
}

/** Has the fields fetched with every record from now on. @throws TypeError for a field that there isn't */
export function need(view: CrudView, names: readonly string[]): void {
	const { owner, fields } = view[FACTS].plan
	const needed = names.map((name) => {
		const field = fields.get(name)
		if (field !== undefined) return field
		throw new TypeError(
			`${owner}.needs() was given ${name}, which is no field${nearest(name, fields.keys())}`,
		)
	})
	const own = view[ASKED]
	const asked = Object.isFrozen(own) ? ask(view, own.selection) : own
	asked.needed = [...new Set([...asked.needed, ...needed])]
}
