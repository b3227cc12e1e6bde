/** The dialect: all SQL but that of records and lists. */
import { ALIAS, columnName, type Dialect, type Lru, patternOf } from '../../../../lib/models/sql/index.ts'
import { failureOf } from './errors.ts'
import { quote, recordSql } from './json.ts'
import { readList, writeList } from './list.ts'
import { bind, placeholder } from './types.ts'

export function dialectOf(lru: Lru): Dialect {
	const dialect: Dialect = {
		lru,
		returning: { insert: true, update: true, delete: true },
		returningAlias: ALIAS,
		comparesRows: true,
		skipsSilently: true,
		gathers: false,
		insertNothing: ' default values',
		quote,
		placeholder,
		bind,
		bindNumber: String,
		defaultOf: () => 'default',
		record: recordSql,
		exact: (column, alias) => `${columnName(dialect, column, alias)}::text`,
		orderTerm: ({ column, descending }, alias) =>
			`${columnName(dialect, column, alias)} ${descending ? 'desc' : 'asc'} nulls last`,
		matches: (sql, column, alias, match) => {
			sql.add(`${columnName(dialect, column, alias)}::text ${match.ignoreCase ? 'ilike' : 'like'} `)
			sql.values.push(patternOf(match, /[\\%_]/g, '\\'))
			sql.add(`$${sql.values.length}::text`)
		},
		// One placeholder for any number of values.
		oneOf: (sql, column, alias, values) => {
			const texts = values.map((value) => {
				const bound = bind(value, column)
				return bound instanceof Uint8Array ? `\\x${Buffer.from(bound).toString('hex')}` : bound
			})
			sql.values.push(JSON.stringify(texts))
			const all = `jsonb_array_elements_text($${sql.values.length}::text::jsonb) e`
			sql.add(`${columnName(dialect, column, alias)} in (select e::${column.sqlType} from ${all})`)
		},
		keyIn: (sql, key, alias, ids) => dialect.oneOf(sql, key, alias, ids, true),
		list: writeList,
		listed: readList,
		failure: failureOf,
	}
	return dialect
}
