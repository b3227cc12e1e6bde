/** SQLite by hand: statements prepared once, keys as a JSON array. */
import { openFile } from '../crud/sqlite-driver.js'

export function openQueries({ url, tables: { author, article, comment } }) {
	const file = openFile(url)
	const newest = 'order by created desc, id desc limit'
	const articles = file.prepare(`select * from ${article} ${newest} ? offset ?`)
	const one = file.prepare(`select * from ${article} where id = ?`)
	const authors = file.prepare(`select * from ${author} where id in (select value from json_each(?))`)
	// `cross join` fixes the order of the join: SQLite would start with the comments.
	const comments = file.prepare(
		`select c.* from json_each(?) a cross join ${comment} c
		on c.id in (select id from ${comment} where article_id = a.value ${newest} 5)
		order by a.key, c.created desc, c.id desc`,
	)
	return {
		articles: (limit, offset) => articles.all([limit, offset]),
		article: (id) => one.get([id]),
		authors: (ids) => authors.all([JSON.stringify(ids)]),
		comments: (ids) => comments.all([JSON.stringify(ids)]),
	}
}
