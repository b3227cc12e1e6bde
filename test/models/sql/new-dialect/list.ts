/** The statement of a page, one row of all its records, and what that row says. */
import { type Listed, refuseLarger } from '../../../../lib/models/index.ts'
import {
	ALIAS,
	countRead,
	type ListParts,
	type Rows,
	type Sql,
	tableName,
} from '../../../../lib/models/sql/index.ts'
import { cursorSql, recordSql } from './json.ts'

export function writeList(sql: Sql, parts: ListParts): void {
	const { selected, order, total, where, after, offset } = parts
	const from = ` from ${tableName(sql.dialect, parts.table)} ${ALIAS}`
	const terms = order.map((term) => sql.dialect.orderTerm(term, ALIAS)).join(', ')
	sql.add('select array_agg(j order by n), array_agg(k order by n)')
	if (total) {
		sql.add(`, (select count(*)${from}`)
		writeWhere(sql, [where])
		sql.add(')')
	}
	const [record = ''] = recordSql(selected, ALIAS).expressions
	const number = `row_number() over (order by ${terms})`
	sql.add(` from (select ${record} as j, ${cursorSql(order, ALIAS)} as k, ${number} as n${from}`)
	writeWhere(sql, [where, after])
	sql.add(` order by ${terms} limit `).number(countRead(parts))
	sql.add(' offset ').number(offset).add(') p')
}

function writeWhere(sql: Sql, conditions: readonly ListParts['where'][]): void {
	let before = ' where '
	for (const write of conditions) {
		if (write === undefined) continue
		write(sql.add(before))
		before = ' and '
	}
}

export function readList({ rows }: Rows, { limit, looksBeyond, maxBytes, total }: ListParts): Listed {
	const [records, cursors, count] = rows[0] ?? []
	const all = Array.isArray(records) ? records : []
	const json = `[${all.slice(0, limit).join(',')}]`
	const follows = all.length > limit || !looksBeyond
	const next = follows && Array.isArray(cursors) ? String(cursors[limit - 1]) : undefined
	refuseLarger(json, maxBytes, next)
	return { json, next, total: total ? Number(count) : undefined }
}
