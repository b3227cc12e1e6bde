/** The tables there are, and one of them as the live database describes it. */
import type { Column, Constraint, Driver, Keyless, Table } from '../../../../lib/models/sql/index.ts'
import { fieldOf } from './types.ts'

const COLUMNS = `select column_name, udt_name, is_nullable, column_default, is_identity, identity_generation,
	is_generated, character_maximum_length
	from information_schema.columns where table_schema = current_schema() and table_name = $1 order by ordinal_position`

const CONSTRAINTS = `select c.conname, c.contype, (select json_agg(a.attname order by k.n)::text
	from unnest(c.conkey) with ordinality k(number, n)
	join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.number)
	from pg_constraint c join pg_class t on t.oid = c.conrelid
	where t.relname = $1 and t.relnamespace = current_schema()::regnamespace and c.contype in ('p', 'u', 'f', 'c')`

const KINDS: Readonly<Record<string, Constraint['kind']>> = {
	p: 'primary',
	u: 'unique',
	f: 'foreign_key',
	c: 'check',
}

export async function listTables(driver: Driver): Promise<string[]> {
	const text = 'select tablename from pg_tables where schemaname = current_schema()'
	const { rows } = await driver.query({ text, values: [], writes: false })
	return rows.map(([name]) => String(name))
}

export async function introspect(driver: Driver, name: string): Promise<Omit<Table, 'key'> & Keyless> {
	const ask = async (text: string) => (await driver.query({ text, values: [name], writes: false })).rows
	const columns = (await ask(COLUMNS)).map(columnOf)
	if (columns.length === 0) throw new TypeError(`there is no table ${JSON.stringify(name)}`)
	const constraints = (await ask(CONSTRAINTS)).map(
		([constraint, kind, own]): Constraint => ({
			name: String(constraint),
			kind: KINDS[String(kind)] ?? 'check',
			columns: own === null ? [] : (JSON.parse(String(own)) as string[]), // made by json_agg
		}),
	)
	const primary = constraints.find(({ kind }) => kind === 'primary')?.columns ?? []
	const unique = constraints.flatMap(({ kind, columns: [only, ...others] }) =>
		kind === 'unique' && only !== undefined && others.length === 0 ? [only] : [],
	)
	return { schema: undefined, name, columns, constraints, isView: false, primary, unique }
}

function columnOf(row: readonly unknown[]): Column {
	const [name, sqlType, nullable, preset, isIdentity, identity, generated, length] = row
	return {
		name: String(name),
		...fieldOf(String(sqlType)),
		sqlType: String(sqlType),
		nullable: nullable === 'YES',
		hasDefault: preset !== null || isIdentity === 'YES',
		generated: generated === 'ALWAYS' || identity === 'ALWAYS',
		maxLength: length === null ? undefined : Number(length),
	}
}
