/**
 * `Plan`: the texts that depend on a selection alone, written once for each: what is selected, the statements
 * that read by id without a condition, and what writes return.
 */
import type { Bytes } from '../../base/time.ts'
import type { Found, Selection } from '../model.ts'
import type { Dialect, RecordSql, Selected } from './dialect.ts'
import {
	ALIAS,
	type Column,
	type Columns,
	columnName,
	columnOf,
	idOf,
	type Table,
	tableName,
} from './table.ts'
import { type Lru, type LruEntry, TextCache } from './text-cache.ts'

/** What selects a record, its version and its key, and what their row says. */
export interface Shape {
	/** For a select list or behind `returning`: the record's expressions, the version's, the key's. */
	readonly list: string
	found(row: readonly unknown[]): Found
	id(row: readonly unknown[]): string
}

export interface Plan {
	readonly selected: readonly Selected[]
	readonly version: Column | undefined
	/** Of the table by {@link ALIAS}: `select … from … where `. */
	readonly head: string
	readonly shape: Shape
	/** Of a change's own table: ` returning …`. */
	readonly returning: string
	readonly returned: Shape
	/** The whole statement that reads the record with an id. */
	readonly byId: string
	/** Of inserts and of updates without a condition, by the fields that are given. */
	readonly inserts: TextCache
	readonly updates: TextCache
	/** Of gathered reads without a condition, by how their ids are written. */
	readonly gathered: TextCache
	/** About how many bytes it takes, with what a dialect has written for it. */
	readonly bytes: Bytes
}

/** What a plan takes beside its texts. */
const BYTES_OF_A_PLAN: Bytes = 3_000
/** How often a record's expressions are in a plan, and in what a dialect keeps for it. */
const TIMES = 6

export function planOf(table: Table, columns: Columns, dialect: Dialect, selection: Selection): Plan {
	const selected = selection.fields.flatMap((field, at) => {
		if (columns.gone.has(field)) return []
		const as = selection.names[at]
		if (as === undefined) throw new TypeError(`the selection has no name for ${JSON.stringify(field)}`)
		return { column: columnOf(columns, field), as }
	})
	// Without the version nothing would prevent lost updates, so that no request is served.
	if (selection.version !== undefined && columns.gone.has(selection.version))
		throw new TypeError(`the version of ${table.name}, ${selection.version}, is gone`)
	const version = selection.version === undefined ? undefined : columnOf(columns, selection.version)
	const key = columnOf(columns, table.key)
	const shapeFor = (alias: string) => shapeOf(dialect, dialect.record(selected, alias), version, key, alias)
	const shape = shapeFor(ALIAS)
	const returned = dialect.returningAlias === ALIAS ? shape : shapeFor(dialect.returningAlias)
	const head = `select ${shape.list} from ${tableName(dialect, table)} ${ALIAS} where `
	const byId = `${head}${columnName(dialect, key, ALIAS)} = ${dialect.placeholder(1, key)}`
	const { lru } = dialect
	return {
		...{ selected, version, head, shape, returning: ` returning ${returned.list}`, returned, byId },
		...{ inserts: new TextCache(lru), updates: new TextCache(lru), gathered: new TextCache(lru) },
		bytes: BYTES_OF_A_PLAN + TIMES * Math.max(shape.list.length, returned.list.length),
	}
}

function shapeOf(
	dialect: Dialect,
	record: RecordSql,
	version: Column | undefined,
	key: Column,
	alias: string,
): Shape {
	const width = record.expressions.length
	const others = version === undefined ? [key] : [version, key]
	const list = [...record.expressions, ...others.map((column) => dialect.exact(column, alias))].join(', ')
	const last = width + others.length - 1
	return {
		list,
		found: (row) => ({
			json: record.json(row.slice(0, width)),
			version: version === undefined ? undefined : String(row[width]),
		}),
		id: (row) => idOf(row[last]),
	}
}

/** The plans of a model, by selection. */
export class Plans {
	readonly #write: (selection: Selection) => Plan
	readonly #lru: Lru
	readonly #kept = new WeakMap<Selection, LruEntry & { readonly plan: Plan }>()
	/** Selections that were asked for once: their plans are kept from the second time on. */
	readonly #once = new WeakSet<Selection>()

	constructor(lru: Lru, write: (selection: Selection) => Plan) {
		this.#lru = lru
		this.#write = write
	}

	of(selection: Selection): Plan {
		const known = this.#kept.get(selection)
		if (known !== undefined) {
			this.#lru.touch(known)
			return known.plan
		}
		const plan = this.#write(selection)
		if (!this.#once.has(selection)) {
			this.#once.add(selection)
			return plan
		}
		const kept = {
			plan,
			bytes: plan.bytes,
			drop: () => this.#kept.delete(selection),
			older: undefined,
			newer: undefined,
		}
		if (this.#lru.add(kept)) this.#kept.set(selection, kept)
		return plan
	}
}
