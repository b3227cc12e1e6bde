/**
 * MariaDB writes the JSON. One statement reads the page with its authors, and `json_arrayagg` of the newest comments in a
 * subquery per article. That reads all comments of an article: the index gives only their order.
 */
import { createPool } from 'mysql2/promise'

const time = (name) => `concat(left(date_format(${name}, '%Y-%m-%dT%T.%f'), 23), 'Z')`

export function openTexts({ url, tables: { author, article, comment } }) {
	const pool = createPool({ uri: url, timezone: 'Z', rowsAsArray: true })
	const own = `'id', b.id, 'author_id', b.author_id, 'title', b.title, 'summary', b.summary, 'status', b.status,
		'views', b.views, 'created', ${time('b.created')}`
	const related = `${own}, 'author', json_compact((select json_object('id', id, 'name', name, 'city', city,
			'joined', ${time('joined')}) from ${author} where id = b.author_id)),
		'comments', json_compact((select json_arrayagg(json_object('id', id, 'article_id', article_id, 'writer', writer,
			'body', body, 'likes', likes, 'created', ${time('created')}) order by created desc, id desc limit 5)
			from ${comment} where article_id = b.id))`
	const newest = 'order by b.created desc, b.id desc'
	const keys = `select b.id, b.created from ${article} b ${newest} limit ? offset ?`
	// Cast, because mysql2 parses values of type JSON.
	const record = (fields) => `cast(json_object(${fields}) as char)`
	const byDate = 'cast(b.created as char), b.id'
	const newestOf = (fields) => `select ${record(fields)}, ${byDate} from (${keys}) k
		straight_join ${article} b on b.id = k.id order by k.created desc, k.id desc`
	const one = `select ${record(related)} from ${article} b where b.id = ?`
	const many = (marks) => `select b.id, ${record(related)} from ${article} b where b.id in (${marks})`
	const commented = `select ${record(own)}, ${byDate} from ${article} b
		where exists (select 1 from ${comment} where article_id = b.id and writer = ?) ${newest} limit ?`
	// The keys of the page first: otherwise MariaDB makes the JSON of the whole table before it sorts.
	const byName = `select b.id, a.name from ${article} b left join ${author} a on a.id = b.author_id
		order by a.name is null, a.name, b.id limit ? offset ?`
	const named = `select ${record(own)}, k.name, k.id from (${byName}) k straight_join ${article} b on b.id = k.id
		order by k.name is null, k.name, k.id`
	const page = async (text, values, limit) => {
		const [rows] = await pool.query(text, values)
		const shown = rows.slice(0, limit)
		const last = rows.length > limit ? shown.at(-1) : undefined
		return {
			data: `[${shown.map(([text]) => text).join()}]`,
			next: last && JSON.stringify([last[1], last[2]]),
		}
	}
	return {
		list: (limit, offset) => page(newestOf(related), [limit + 1, offset], limit),
		plain: (limit, offset) => page(newestOf(own), [limit + 1, offset], limit),
		commentedBy: (limit, writer) => page(commented, [writer, limit + 1], limit),
		byAuthor: (limit, offset) => page(named, [limit + 1, offset], limit),
		read: async (id) => (await pool.execute(one, [id]))[0][0][0],
		async readAll(ids) {
			// The number of placeholders is a power of two, so that few statements are prepared.
			const marks = 2 ** Math.ceil(Math.log2(ids.length))
			const padded = [...ids, ...new Array(marks - ids.length).fill(ids[0])]
			const found = new Map((await pool.execute(many(new Array(marks).fill('?').join()), padded))[0])
			return ids.map((id) => found.get(id))
		},
	}
}
