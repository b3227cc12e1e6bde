/**
 * MariaDB writes the JSON of a record by `json_object`. A list is joined in Node, because `json_arrayagg` truncates at
 * `group_concat_max_len`. Reads are prepared; lists are not, because if the limit is a placeholder, MariaDB sometimes sorts
 * the whole table.
 */
import { createPool } from 'mysql2/promise'

const time = (name) => `concat(left(date_format(b.${name}, '%Y-%m-%dT%T.%f'), 23), 'Z')`
// Cast, because mysql2 parses values of type JSON.
const RECORD = `cast(json_object('id', b.id, 'author_id', b.author_id, 'title', b.title, 'body', b.body,
	'status', b.status, 'views', b.views, 'rating', b.rating, 'published', b.published = 1,
	'created', ${time('created')}, 'updated', ${time('updated')}) as char)`

export function openTexts({ url, table }) {
	const pool = createPool({ uri: url, timezone: 'Z', rowsAsArray: true })
	const ask = async (text, values) => (await pool.query(text, values))[0]
	const keyed = `${RECORD}, cast(b.created as char), b.id`
	const order = 'order by b.created desc, b.id desc'
	return {
		async readAll(ids) {
			// The number of placeholders is a power of two, so that few statements are prepared.
			const marks = 2 ** Math.ceil(Math.log2(ids.length))
			const padded = [...ids, ...new Array(marks - ids.length).fill(ids[0])]
			const text = `select b.id, ${RECORD} from ${table} b where b.id in (${new Array(marks).fill('?').join()})`
			const found = new Map((await pool.execute(text, padded))[0])
			return ids.map((id) => found.get(id))
		},
		async list(limit, offset, key) {
			const rows = await (key === undefined
				? ask(
						`select ${keyed} from (select b.id, b.created from ${table} b ${order} limit ? offset ?) k
						straight_join ${table} b on b.id = k.id order by k.created desc, k.id desc`,
						[limit + 1, offset],
					)
				: ask(
						`select ${keyed} from ${table} b where b.created < ? or (b.created = ? and b.id < ?) ${order} limit ?`,
						[key[0], key[0], key[1], limit + 1],
					))
			const shown = rows.slice(0, limit)
			const last = rows.length > limit ? shown.at(-1) : undefined
			return {
				data: `[${shown.map(([text]) => text).join()}]`,
				next: last && JSON.stringify([last[1], last[2]]),
			}
		},
	}
}
