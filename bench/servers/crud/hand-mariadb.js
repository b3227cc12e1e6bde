/**
 * MariaDB by hand, as the documentation of mysql2 shows it: a pool, rows as objects. MariaDB has numbers for booleans, which
 * are converted back. Lists aren't prepared: if the limit is a placeholder, MariaDB sometimes sorts the whole table. Used by
 * express and fastify.
 */
import { createPool } from 'mysql2/promise'

const COLUMNS = 'id, author_id, title, body, status, views, rating, published, created, updated'

export function openStore({ url, table }) {
	const pool = createPool({ uri: url, timezone: 'Z' })
	const ask = async (text, values, how = 'query') => {
		const [rows] = await pool[how](text, values)
		for (const row of rows) row.published = row.published === 1
		return rows
	}
	return {
		async read(id) {
			return (await ask(`select ${COLUMNS} from ${table} where id = ?`, [id], 'execute'))[0]
		},
		list(limit, offset) {
			const keys = `select id from ${table} order by created desc, id desc limit ? offset ?`
			const text = `select ${COLUMNS} from (${keys}) k join ${table} using (id) order by created desc, id desc`
			return ask(text, [limit, offset])
		},
		listAfter(limit, created, id) {
			const where = 'created < ? or (created = ? and id < ?)'
			const text = `select ${COLUMNS} from ${table} where ${where} order by created desc, id desc limit ?`
			const time = created.replace('T', ' ').replace('Z', '')
			return ask(text, [time, time, id, limit])
		},
	}
}
