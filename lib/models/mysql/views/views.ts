/** Writable views: `originOf` finds what is behind a view, `writable` completes the view with its defaults and constraints. */
import type { Keyless } from '../../sql/key.ts'
import type { Column, Table } from '../../sql/table.ts'
import { type MysqlColumn, quoteName, unquoted } from '../json.ts'
import type { Server } from '../mysql2/server.ts'

export type Described = Omit<Table, 'key' | 'columns'> &
	Omit<Keyless, 'columns'> & { readonly columns: readonly MysqlColumn[] }

/** Where an updatable view has its columns from: one table, or another view. */
interface ViewOrigin {
	readonly schema: string | undefined
	readonly name: string
	/** The names of its columns, by the view's. Those of the view that are expressions are left out. */
	readonly columns: ReadonlyMap<string, string>
}

const TICKED = '`((?:[^`]|``)+)`'
const COLUMN = new RegExp(`^(?:${TICKED}\\.)*${TICKED} AS ${TICKED}$`)
const FROM = new RegExp(`^(?:${TICKED}\\.)?${TICKED}(?: ${TICKED})?(?:$| where )`)

/**
 * Parses the definition of a view, which the server writes as ``select `b`.`t`.`id` AS `id`,… from `b`.`t` …``.
 * `undefined` for a join, and for anything else than one table or view.
 */
export function originOf(definition: string, columns: readonly Column[]): ViewOrigin | undefined {
	if (!definition.startsWith('select ')) return undefined
	let rest = definition.slice('select '.length)
	const found = new Map<string, string>()
	for (const [at, { name }] of columns.entries()) {
		const end = ` AS ${quoteName(name)}${at === columns.length - 1 ? ' from ' : ','}`
		const length = rest.indexOf(end)
		if (length === -1) return undefined
		const term = rest.slice(0, length)
		// In a subquery, the end may be another select list's.
		if (/\bselect\b/i.test(term)) return undefined
		const own = unquoted(COLUMN.exec(`${term} AS ${quoteName(name)}`)?.[2])
		if (own !== undefined) found.set(name, own)
		rest = rest.slice(length + end.length)
	}
	const [, schema, table] = FROM.exec(rest) ?? []
	const name = unquoted(table)
	return name === undefined ? undefined : { schema: unquoted(schema), name, columns: found }
}

/**
 * Completes a view with the defaults and constraints of what is behind it, if records can be created in it: the server
 * refuses that if the view lacks a column that must be given, and MySQL also if a column is an expression or occurs
 * twice.
 */
export function writable(
	view: Described,
	behind: Described,
	origins: ReadonlyMap<string, string>,
	{ isMariaDb }: Server,
): Described {
	const { isWritable = !behind.isView, readOnlyReason } = behind
	if (!isWritable) return readOnlyReason === undefined ? view : { ...view, readOnlyReason }
	const names = new Map(Array.from(origins, ([own, name]) => [name, own]))
	const isPlain = names.size === view.columns.length
	const isWhole = behind.columns.every(
		({ name, nullable, hasDefault, generated }) => names.has(name) || nullable || hasDefault || generated,
	)
	// A user without rights on the table doesn't see its columns.
	const isSeen = [...names.keys()].every((name) => behind.columns.some((column) => column.name === name))
	if (names.size !== origins.size || !(isPlain || isMariaDb) || !isWhole || !isSeen) return view
	const columns = view.columns.map((column) => {
		const origin = behind.columns.find(({ name }) => name === origins.get(column.name))
		if (origin === undefined) return { ...column, hasDefault: false, generated: true }
		const { hasDefault, generated, isAutoIncrement } = origin
		return { ...column, hasDefault, generated, isAutoIncrement }
	})
	const renamed = (column: string) => names.get(column) ?? []
	const inner = behind.base?.columns ?? new Map(behind.columns.map(({ name }) => [name, name]))
	return {
		...view,
		columns,
		isWritable: true,
		constraints: behind.constraints.map((one) => ({ ...one, columns: one.columns.flatMap(renamed) })),
		base: {
			schema: (behind.base ?? behind).schema,
			name: (behind.base ?? behind).name,
			columns: new Map(
				[...inner].flatMap(([column, name]) => [renamed(name)].flat().map((own) => [column, own] as const)),
			),
		},
	}
}
