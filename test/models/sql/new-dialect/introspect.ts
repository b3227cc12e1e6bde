/** Lists the tables, and reads one table's definition from the live database. */
import type {
	BigintForm,
	Column,
	Constraint,
	Driver,
	Keyless,
	Table,
} from '../../../../lib/models/sql/index.ts'
import { fieldOf } from './types.ts'

const COLUMNS = 'select name, type, "notnull", pk, dflt_value, hidden from pragma_table_xinfo(?)'

/** The columns of each unique index that has no nullable column, as JSON. */
const UNIQUE = `select json_group_array(c.name) from pragma_index_list(?1) i, pragma_index_info(i.name) c
	left join pragma_table_xinfo(?1) t on t.name = c.name
	where i."unique" and not i.partial group by i.name having min(t."notnull")`

/** Foreign keys that name the columns that they refer to. */
const FOREIGN_KEYS = `select "table", json_group_array("from"), json_group_array("to")
	from (select * from pragma_foreign_key_list(?) order by id, seq) group by id having min("to") is not null`

export async function listTables(driver: Driver): Promise<string[]> {
	const text = `select name from sqlite_schema where type = 'table' and name not like 'sqlite~_%' escape '~'`
	const { rows } = await driver.query({ text, values: [], writes: false })
	return rows.map(([name]) => String(name))
}

export async function introspect(
	driver: Driver,
	name: string,
	bigint: BigintForm = 'number',
): Promise<Omit<Table, 'key'> & Keyless> {
	const ask = async (text: string) => (await driver.query({ text, values: [name], writes: false })).rows
	const described = await ask(COLUMNS)
	if (described.length === 0) throw new TypeError(`there is no table ${JSON.stringify(name)}`)
	const isView = (await ask(`select 1 from sqlite_schema where type = 'view' and name = ?`)).length > 0
	const columns = described.map((row) => columnOf(row, bigint))
	const inKey = described.filter(([, , , place]) => place !== 0n)
	const primary = inKey.sort((a, b) => Number(a[3]) - Number(b[3])).map(([column]) => String(column))
	const unique = (await ask(UNIQUE)).map(([names]) => JSON.parse(String(names)) as string[])
	const constraints = foreignKeys(await ask(FOREIGN_KEYS))
	return { schema: undefined, name, columns, constraints, isView, primary, unique }
}

/** Only for relations: errors of libSQL name the columns. */
function foreignKeys(rows: readonly (readonly unknown[])[]): Constraint[] {
	return rows.map(([name, from, to]) => {
		const [columns, targets] = [from, to].map((names) => JSON.parse(String(names)) as string[])
		const target = { schema: undefined, name: String(name), columns: targets ?? [] }
		return { name: '', kind: 'foreign_key', columns: columns ?? [], target }
	})
}

function columnOf(row: readonly unknown[], bigint: BigintForm): Column {
	const [name, declared, notNull, place, preset, hidden] = row
	const field = fieldOf(String(declared), bigint)
	return {
		name: String(name),
		...field,
		nullable: notNull === 0n && place === 0n,
		// An integer primary key is the rowid, which libSQL generates.
		hasDefault: preset !== null || (place !== 0n && field.sqlType === 'integer'),
		defaultSql: preset === null ? undefined : String(preset),
		generated: hidden !== 0n,
	}
}
