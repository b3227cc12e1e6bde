/** The dialect: all SQL except for records and lists. */
import { type Column, columnName, type Dialect, lruOf, type Sql } from '../../../../lib/models/sql/index.ts'
import { failureOf, isOutdated } from './errors.ts'
import { quote, recordSql } from './json.ts'
import { readList, writeList } from './list.ts'
import { bind } from './types.ts'

export function dialectOf(database: object): Dialect {
	const dialect: Dialect = {
		lru: lruOf(database),
		returning: { insert: true, update: true, delete: true },
		returningAlias: '',
		comparesRows: true,
		skipsSilently: true, // by raise(ignore)
		insertNothing: ' default values',
		quote,
		placeholder: (n) => `?${n}`,
		bind,
		bindNumber: BigInt,
		defaultOf: ({ defaultSql = 'null' }) => `(${defaultSql})`,
		record: recordSql,
		exact: (column, alias) => `cast(${columnName(dialect, column, alias)} as text)`,
		orderTerm: ({ column, descending }, alias) => {
			const name = columnName(dialect, column, alias)
			if (descending) return `${name} desc`
			return column.nullable ? `${name} nulls last` : name
		},
		// Doesn't use `like`, which always ignores case.
		matches: (sql, column, alias, { op, value, ignoreCase }) => {
			const names = [columnName(dialect, column, alias), `?${sql.values.push(bind(value, column))}`]
			const [text, part] = names.map((name) => (ignoreCase ? `lower(${name})` : name))
			const conditions = {
				contains: `instr(${text}, ${part}) > 0`,
				startsWith: `instr(${text}, ${part}) = 1`,
				endsWith: `substr(${text}, length(${text}) - length(${part}) + 1) = ${part}`,
				eq: `${text} = ${part}`,
			}
			sql.add(conditions[op])
		},
		// One placeholder for any number of values.
		oneOf: (sql, column, alias, values, isExact) => {
			sql.values.push(`[${values.map((value) => jsonOf(bind(value, column))).join(',')}]`)
			const name = `${columnName(dialect, column, alias)}${isExact ? ' collate binary' : ''}`
			const value = column.type === 'bytes' ? 'unhex(value)' : 'value'
			sql.add(`${name} in (select ${value} from json_each(?${sql.values.length}))`)
		},
		keyIs: exactly,
		exactly,
		list: writeList,
		listed: readList,
		failure: failureOf,
		isOutdated,
	}
	return dialect
}

/** A column may be `collate nocase`. */
function exactly(sql: Sql, column: Column, alias: string, text: string): void {
	sql
		.add(`${columnName(sql.dialect, column, alias)} = `)
		.value(text, column)
		.add(' collate binary')
}

function jsonOf(bound: unknown): string {
	if (typeof bound === 'string') return JSON.stringify(bound)
	if (bound instanceof Uint8Array) return `"${Buffer.from(bound).toString('hex')}"`
	return String(bound).replace('Infinity', '9e999')
}
