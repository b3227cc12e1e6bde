/**
 * Tables and views of a database by their names: `listTables`, and `parseTableName` for the names that users write, `article`,
 * `blog.article`, or any name in backticks. Called by `model.ts` and `introspect.ts`.
 */
import { nearest } from '../../../base/options.ts'
import type { Driver } from '../../sql/driver.ts'
import { unquoted } from '../json.ts'
import type { Server } from '../mysql2/server.ts'

export interface TableName {
	/** `undefined` for the pool's database. */
	readonly schema: string | undefined
	readonly name: string
}

const PART = '(?:`((?:[^`]|``)+)`|([^`.]+))'
const NAME = new RegExp(`^(?:${PART}\\.)?${PART}$`)

/** @throws TypeError for a malformed name */
export function parseTableName(written: string): TableName {
	const found = typeof written === 'string' ? NAME.exec(written) : null
	if (found === null) {
		throw new TypeError(
			`a table's name must look like 'article', 'blog.article' or '\`odd.name\`', got ${JSON.stringify(written)}`,
		)
	}
	const [, quotedSchema, plainSchema, quotedName, plainName = ''] = found
	return { schema: unquoted(quotedSchema) ?? plainSchema, name: unquoted(quotedName) ?? plainName }
}

/** A table or view of a database. */
export interface Listing {
	readonly name: string
	readonly isView: boolean
	/** Whether it is one of the server's own views, of `information_schema`. */
	readonly isSystem: boolean
	/** The table's engine, if it has no transactions: MyISAM, Aria, MEMORY. */
	readonly rigidEngine: string | undefined
}

/** Lists the tables and views of a database, by default the pool's; or only one of them, if there is one of this name. */
export async function listTables(
	driver: Driver,
	server: Server,
	database: string | undefined,
	name?: string,
): Promise<Listing[]> {
	const schema = database ?? server.schema
	if (schema === undefined) {
		throw new TypeError(
			"the pool has no default database: include it in the table's name ('blog.article'), or create the pool with { database }",
		)
	}
	const [condition, values] =
		name === undefined ? ['t.table_schema = ?', [schema]] : [ofTable('t.'), [schema, name, name]]
	const text = `select t.table_name, t.table_type, t.engine, e.transactions from information_schema.tables t
		left join information_schema.engines e on e.engine = t.engine where ${condition} order by t.table_name`
	const { rows } = await driver.query({ text, values, writes: false })
	return rows.map(([name, type, engine, transactions]) => {
		const isView = /view/i.test(String(type))
		return {
			name: String(name),
			isView,
			isSystem: /^system view$/i.test(String(type)),
			rigidEngine: transactions === 'NO' && !isView ? String(engine) : undefined,
		}
	})
}

/** @throws TypeError if there is none of this name */
export function listingOf(
	listings: readonly Listing[],
	{ schema, name }: TableName,
	{ foldsNames }: Server,
): Listing {
	const folded = name.toLowerCase()
	const found =
		listings.find((listing) => listing.name === name) ??
		(foldsNames ? listings.find((listing) => listing.name.toLowerCase() === folded) : undefined)
	if (found !== undefined) return found
	const written = schema === undefined ? name : `${schema}.${name}`
	const names = listings.map((listing) => listing.name)
	throw new TypeError(
		`there is no table ${written}${nearest(name, names)}${names.length === 0 ? '; the database has no tables' : ''}`,
	)
}

/** Compares names as binary: `information_schema` ignores case, but tables' names may differ only in case. */
export function ofTable(prefix: string, schema = 'table_schema'): string {
	const name = `${prefix}table_name`
	return `${prefix}${schema} = ? and ${name} = ? and cast(${name} as binary) = cast(? as binary)`
}
