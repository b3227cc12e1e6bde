/**
 * SQLite by hand, through better-sqlite3's interface: statements prepared once, rows as objects. SQLite has numbers for
 * booleans, which are converted back. Used by express and fastify.
 */
import { openFile } from './sqlite-driver.js'

const COLUMNS = 'id, author_id, title, body, status, views, rating, published, created, updated'

export function openStore({ url, table }) {
	const file = openFile(url)
	const order = 'order by created desc, id desc limit ?'
	const read = file.prepare(`select ${COLUMNS} from ${table} where id = ?`)
	const list = file.prepare(`select ${COLUMNS} from ${table} ${order} offset ?`)
	const after = file.prepare(`select ${COLUMNS} from ${table} where (created, id) < (?, ?) ${order}`)
	const exact = (row) => {
		row.published = row.published === 1
		return row
	}
	return {
		read(id) {
			const row = read.get([id])
			if (row === undefined) return undefined
			if (row._metadata !== undefined) delete row._metadata // libsql adds it to the columns
			return exact(row)
		},
		list: (limit, offset) => list.all([limit, offset]).map(exact),
		listAfter: (limit, created, id) => after.all([created, id, limit]).map(exact),
	}
}
