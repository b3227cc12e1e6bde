/**
 * MariaDB by hand. It has no `lateral`, so the comments are a `union all` of one limited select per article. Lists aren't
 * prepared: if the limit is a placeholder, MariaDB sometimes sorts the whole table.
 */
import { createPool } from 'mysql2/promise'

export function openQueries({ url, tables: { author, article, comment } }) {
	const pool = createPool({ uri: url, timezone: 'Z' })
	const ask = async (text, values) => (await pool.query(text, values))[0]
	const newest = 'order by created desc, id desc limit'
	const keys = `select id from ${article} ${newest} ? offset ?`
	const ofOne = `(select * from ${comment} where article_id = ? ${newest} 5)`
	return {
		articles: (limit, offset) =>
			ask(`select * from (${keys}) k join ${article} using (id) order by created desc, id desc`, [
				limit,
				offset,
			]),
		article: async (id) => (await pool.execute(`select * from ${article} where id = ?`, [id]))[0][0],
		authors: (ids) => ask(`select * from ${author} where id in (?)`, [ids]),
		comments: (ids) => ask(new Array(ids.length).fill(ofOne).join(' union all '), ids),
	}
}
