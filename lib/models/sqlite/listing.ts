/** The tables and views of a database, and the columns of one, as SQLite lists them. Read when a model is opened. */
import type { SqliteDriver } from './driver.ts'

/** A table as the list of all tables has it. */
export interface Listing {
	readonly schema: string
	readonly name: string
	readonly isView: boolean
	readonly isStrict: boolean
	readonly hasRowid: boolean
}

export interface Info {
	readonly name: string
	readonly declared: string
	readonly notNull: boolean
	readonly defaultSql: string | null
	/** Its place in the primary key from 1, or 0. */
	readonly inKey: number
	readonly generated: boolean
}

export type Ask = (text: string, ...values: readonly unknown[]) => readonly (readonly unknown[])[]

/** Tables and views, without those that are SQLite's own. */
export function listings(driver: SqliteDriver): Listing[] {
	const rows = asking(driver)(
		`select schema, name, type, strict, wr from pragma_table_list
		where type <> 'shadow' and name not like 'sqlite\\_%' escape '\\' order by schema <> 'main', schema, name`,
	)
	return rows.map(([schema, name, type, strict, wr]) => ({
		schema: String(schema),
		name: String(name),
		isView: type === 'view',
		isStrict: Number(strict) === 1,
		hasRowid: type === 'table' && Number(wr) === 0,
	}))
}

/** @throws TypeError that lists the tables there are */
export function findListing(driver: SqliteDriver, name: string): Listing {
	const all = listings(driver)
	const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
	const found =
		all.find((listing) => isSame(listing.name, name)) ??
		all.find((listing) => isSame(`${listing.schema}.${listing.name}`, name))
	if (found !== undefined) return found
	const names = all.map((listing) =>
		listing.schema === 'main' ? listing.name : `${listing.schema}.${listing.name}`,
	)
	const listed = names.length === 0 ? 'the database has none' : `there are ${names.slice(0, 50).join(', ')}`
	throw new TypeError(`there is no table or view ${JSON.stringify(name)}; ${listed}`)
}

/** The name of the table's own key, if it is one column. */
export function ownKey(driver: SqliteDriver, listing: Listing): string | undefined {
	const [first, ...others] = infosOf(asking(driver), listing).filter(({ inKey }) => inKey > 0)
	return others.length === 0 ? first?.name : undefined
}

export function asking(driver: SqliteDriver): Ask {
	return (text, ...values) => driver.run({ text, values, writes: false }).rows
}

export function infosOf(ask: Ask, { schema, name }: Listing): Info[] {
	const rows = ask(
		'select name, type, "notnull", dflt_value, pk, hidden from pragma_table_xinfo(?, ?) where hidden <> 1 order by cid',
		name,
		schema,
	)
	return rows.map(([column, type, notNull, defaultSql, pk, hidden]) => ({
		name: String(column),
		declared: String(type ?? '').replace(/\s*generated always\s*$/i, ''),
		notNull: Number(notNull) === 1,
		defaultSql: typeof defaultSql === 'string' ? defaultSql : null,
		inKey: Number(pk),
		generated: Number(hidden) >= 2,
	}))
}
