/** `Plan`: the SQL texts that depend only on a selection: select list, statement by id, `returning` clause of writes. */
import type { Bytes } from '../../base/time.ts'
import { idOfKey } from '../key.ts'
import type { Found, Selection } from '../model.ts'
import type { Dialect, RecordSql } from './dialect.ts'
import type { Embedded, ReadApart, Selected } from './embedding.ts'
import { embeddedOf, fillMarks, recordOf, selectedOf } from './related.ts'
import { ALIAS, type Column, type Columns, columnName, columnOf, type Table, tableName } from './table.ts'
import { type Lru, LruMap, TextCache } from './text-cache.ts'

/** The select list of a record with its version and key, and functions that read its rows. */
export interface RowMapper {
	/** The record's expressions, the version and the key, to follow `select` or `returning`. */
	readonly list: string
	found(row: readonly unknown[], apart?: ReadApart): Found
	id(row: readonly unknown[]): string
}

export interface Plan {
	readonly selected: readonly Selected[]
	readonly embedded: Embedded | undefined
	readonly version: Column | undefined
	/** `select … from … where `, with {@link ALIAS}. */
	readonly head: string
	/** The bound values of the placeholders in `head`. */
	readonly values: readonly unknown[]
	readonly selectedRow: RowMapper
	/** The clause ` returning …` of a write; not for selections with related records. */
	readonly returning: string
	readonly returnedRow: RowMapper
	/** The whole statement that reads a record by id. */
	readonly byId: string
	/** Texts of inserts, and of updates without a condition, by the fields that are set. */
	readonly inserts: TextCache
	readonly updates: TextCache
	/** Texts of batched reads without a filter, by the condition on their ids. */
	readonly gathered: TextCache
	/** Approximate size, including the texts that the dialect caches for it. */
	readonly bytes: Bytes
}

/** Size of a plan without its texts. */
const PLAN_BYTES: Bytes = 3_000
/** How many copies of the select list a plan and the dialect's cached texts hold together. */
const COPIES_OF_LIST = 6

export function planOf(table: Table, columns: Columns, dialect: Dialect, selection: Selection): Plan {
	const selected = selectedOf(selection, columns)
	const embedded = embeddedOf(dialect, selection, { columns, alias: ALIAS })
	// Without the version nothing would prevent lost updates, so every request fails.
	if (selection.version !== undefined && columns.gone.has(selection.version))
		throw new TypeError(`the version column of ${table.name}, ${selection.version}, no longer exists`)
	const version = selection.version === undefined ? undefined : columnOf(columns, selection.version)
	const keys = table.key.map((name) => columnOf(columns, name))
	const mapper = (alias: string) =>
		rowMapper(dialect, recordOf(dialect, selected, alias, embedded), embedded, version, keys, alias)
	const selectedRow = mapper(ALIAS)
	const isSame = dialect.returningAlias === ALIAS || embedded !== undefined
	const returnedRow = isSame ? selectedRow : mapper(dialect.returningAlias)
	const head = `select ${selectedRow.list} from ${tableName(dialect, table)} ${ALIAS} where `
	const first = 1 + (embedded?.values.length ?? 0)
	const isKey = keys.map(
		(key, at) => `${columnName(dialect, key, ALIAS)} = ${dialect.placeholder(first + at, key)}`,
	)
	const byId = `${head}${isKey.join(' and ')}`
	const { lru } = dialect
	return {
		...{ selected, embedded, version, head, byId, selectedRow, returnedRow },
		values: embedded?.values ?? [],
		returning: ` returning ${returnedRow.list}`,
		...{ inserts: new TextCache(lru), updates: new TextCache(lru), gathered: new TextCache(lru) },
		bytes: PLAN_BYTES + COPIES_OF_LIST * Math.max(selectedRow.list.length, returnedRow.list.length),
	}
}

function rowMapper(
	dialect: Dialect,
	record: RecordSql,
	embedded: Embedded | undefined,
	version: Column | undefined,
	keys: readonly Column[],
	alias: string,
): RowMapper {
	const width = record.expressions.length
	const others = version === undefined ? keys : [version, ...keys]
	const list = [...record.expressions, ...others.map((column) => dialect.exact(column, alias))].join(', ')
	const first = width + others.length - keys.length
	const isPlain = keys.length === 1 && keys[0]?.type !== 'timestamp'
	return {
		list,
		found: (row, apart) => ({
			json: embedded === undefined ? record.json(row) : fillMarks(row[0], embedded, dialect, apart),
			version: version === undefined ? undefined : String(row[width]),
		}),
		id: isPlain ? (row) => String(row[first]) : (row) => idOfKey(row.slice(first, first + keys.length), keys),
	}
}

/** Cache of a model's plans, by selection. A plan is stored when its selection is used for the second time. */
export class Plans {
	readonly #create: (selection: Selection) => Plan
	readonly #kept: LruMap<Selection, Plan>
	/** Selections that were used before. */
	readonly #seen = new WeakSet<Selection>()

	constructor(lru: Lru, create: (selection: Selection) => Plan) {
		this.#kept = new LruMap(lru)
		this.#create = create
	}

	of(selection: Selection): Plan {
		const known = this.#kept.get(selection)
		if (known !== undefined) return known
		const plan = this.#create(selection)
		if (this.#seen.has(selection)) this.#kept.add(selection, plan, plan.bytes)
		else this.#seen.add(selection)
		return plan
	}
}
