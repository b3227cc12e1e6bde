/** PostgreSQL by hand: named (so prepared) statements, keys as arrays, and `lateral` for the limit of comments per article. */
import pg from 'pg'

export function openQueries({ url, tables: { author, article, comment } }) {
	const pool = new pg.Pool({ connectionString: url })
	const ask = async (name, text, values) => (await pool.query({ name, text, values })).rows
	const newest = 'order by created desc, id desc limit'
	return {
		articles: (limit, offset) =>
			ask('articles', `select * from ${article} ${newest} $1 offset $2`, [limit, offset]),
		article: async (id) => (await ask('article', `select * from ${article} where id = $1`, [id]))[0],
		authors: (ids) => ask('authors', `select * from ${author} where id = any($1::int[])`, [ids]),
		comments: (ids) =>
			ask(
				'comments',
				`select c.* from unnest($1::int[]) a (id)
				cross join lateral (select * from ${comment} where article_id = a.id ${newest} 5) c`,
				[ids],
			),
	}
}
