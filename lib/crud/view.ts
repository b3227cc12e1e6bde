/** What the steps of a `CrudHandler` share: facts known when it is made, and the state of one request. */
import type { Selection } from '../models/model.ts'
import type { PageMeta } from '../wire/list.ts'
import type { CrudField } from './fields.ts'
import type { CrudQuery } from './list-query.ts'
import type { CrudOperation, CrudRules } from './options.ts'
import type { CrudPlan } from './plan.ts'
import type { WrittenValues } from './write.ts'

export const FACTS: unique symbol = Symbol('verbena.crud')
export const STATE: unique symbol = Symbol('verbena.crudState')

export interface CrudFacts {
	readonly plan: CrudPlan
	readonly rules: CrudRules
	/** The query of a list without parameters. */
	readonly plainQuery: CrudQuery
	/** Whether a subclass has a `scope()`. */
	readonly isScoped: boolean
	/** Whether a subclass has a `stripObject()`, which all records go through. */
	readonly isStripped: boolean
	/** The operations that a subclass overrides. */
	readonly overridden: ReadonlySet<CrudOperation>
	/** Whether a read without parameters is answered by the model's text alone. */
	readonly isPlainRead: boolean
}

/** What one request asks for beside its id and values, and what came of it. The handler's own is frozen. */
export interface RequestState {
	readonly selection: Selection
	/** Fields that a subclass needs beside those of the selection. */
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
	readonly [STATE]: RequestState
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
