/** The statement of a page, which returns a row for each record, and how these rows are read. */
import { type Listed, refuseLarger } from '../../../../lib/models/index.ts'
import {
	ALIAS,
	countRead,
	type ListParts,
	type Rows,
	type Sql,
	tableName,
} from '../../../../lib/models/sql/index.ts'
import { cursorJson, recordSql, valueSql } from './json.ts'

/** Each row has the total, 1 (null if there is no record), the record's values, and the cursor's values. */
export function writeList(sql: Sql, parts: ListParts): void {
	const { selected, order, total, maxTotal, where, after, offset } = parts
	const from = ` from ${tableName(sql.dialect, parts.table)} ${ALIAS}`
	sql.add('select * from (select ')
	if (!total) sql.add('null')
	else if (maxTotal === undefined) writeWhere(sql.add(`count(*)${from}`), [where])
	else {
		writeWhere(sql.add(`count(*) from (select 1${from}`), [where])
		sql
			.add(' limit ')
			.number(maxTotal + 1)
			.add(')')
	}
	const cursor = order.map(({ column, joined = ALIAS }) => valueSql(column, joined))
	const values = [...recordSql(selected, ALIAS).expressions, ...cursor]
	sql.add(`) left join (select ${['1', ...values].join(', ')}${from}`)
	parts.joins?.(sql)
	writeWhere(sql, [where, after])
	const terms = order.map((term) => sql.dialect.orderTerm(term, term.joined ?? ALIAS))
	sql.add(` order by ${terms.join(', ')}`)
	sql.add(' limit ').number(countRead(parts)).add(' offset ').number(offset).add(')')
}

function writeWhere(sql: Sql, conditions: readonly ListParts['where'][]): void {
	let before = ' where '
	for (const write of conditions) {
		if (write === undefined) continue
		write(sql.add(before))
		before = ' and '
	}
}

export function readList({ rows }: Rows, parts: ListParts): Listed {
	const { selected, order, limit, looksBeyond, maxBytes, total } = parts
	const record = recordSql(selected, ALIAS)
	const all = rows.filter(([, isRecord]) => isRecord !== null).map((row) => row.slice(2))
	const json = `[${all.slice(0, limit).map(record.json).join(',')}]`
	const follows = all.length > limit || !looksBeyond
	const last = all[limit - 1]
	const next = follows && last ? cursorJson(last.slice(selected.length), order) : undefined
	refuseLarger(json, maxBytes, next)
	return { json, next, total: total ? Number(rows[0]?.[0]) : undefined }
}
