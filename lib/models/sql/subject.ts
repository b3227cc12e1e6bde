/** `Subject`: what statements about a table are built from, and how a model's subject is found by the models linked to it. */
import type { Model } from '../model.ts'
import type { Dialect } from './dialect.ts'
import type { Column, Columns, Table } from './table.ts'

/** What statements are built for: a table, its columns by name, its key and its dialect. */
export interface Subject {
	readonly table: Table
	readonly columns: Columns
	readonly keys: readonly Column[]
	readonly dialect: Dialect
}

/** The member of a model that has its table, for other models of the same database. */
export const LIVE: unique symbol = Symbol('verbena.liveTable')

/** The table of a linked model. @throws TypeError unless it is an SQL model */
export function subjectOfModel(model: Model): Subject {
	// Only `SqlModel` has this member.
	const live = Reflect.get(model, LIVE) as { readonly subject: Subject } | undefined
	if (live !== undefined) return live.subject
	throw new TypeError(`${model.name} isn't a table of this database, so it can't be joined`)
}
