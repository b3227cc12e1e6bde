/**
 * PostgreSQL by hand, as the documentation of pg shows it: a pool, named (so prepared) statements, rows as
 * objects. Used by express and fastify.
 */
import pg from 'pg'
import { numbers } from './numbers.js'

const COLUMNS = 'id, author_id, title, body, status, views, rating, published, created, updated'

const NAMES = ['author_id', 'title', 'body', 'status', 'views', 'rating', 'published']

export function openStore({ url, table }) {
	const pool = new pg.Pool({ connectionString: url })
	const numberOf = numbers()
	const order = `order by created desc, id desc limit $1`
	const ask = async (name, text, values) =>
		(await pool.query({ name: `${table} ${name}`, text, values })).rows
	return {
		async read(id) {
			const rows = await ask('read', `select ${COLUMNS} from ${table} where id = $1`, [id])
			return rows[0]
		},
		list(limit, offset) {
			return ask('list', `select ${COLUMNS} from ${table} ${order} offset $2`, [limit, offset])
		},
		listAfter(limit, created, id) {
			const text = `select ${COLUMNS} from ${table} where (created, id) < ($2, $3) ${order}`
			return ask('list after', text, [limit, created, id])
		},
		async create({ author_id, title, body, status, views, rating, published }) {
			const rows = await ask(
				'create',
				`insert into ${table} (author_id, title, body, status, views, rating, published)
				values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`,
				[author_id, title, body, status, views, rating, published],
			)
			return rows[0]
		},
		/** One multi-row insert, with a prepared statement per number of records. */
		createMany(records) {
			const row = (_, index) => `(${NAMES.map((_, at) => `$${index * NAMES.length + at + 1}`).join()})`
			const text = `insert into ${table} (${NAMES.join()}) values ${records.map(row).join()} returning ${COLUMNS}`
			const values = records.flatMap((record) => NAMES.map((name) => record[name]))
			return ask(`create ${records.length}`, text, values)
		},
		async update(id, values) {
			const names = Object.keys(values) // the schema has left only columns
			const text = `update ${table} set ${names.map((name, index) => `${name} = $${index + 2}`).join(', ')}
				where id = $1 returning ${COLUMNS}`
			const rows = await ask(`update ${numberOf(names)}`, text, [id, ...Object.values(values)])
			return rows[0]
		},
	}
}
