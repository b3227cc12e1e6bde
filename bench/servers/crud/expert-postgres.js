/** PostgreSQL writes the JSON: `row_to_json` for a record, `string_agg` of it for a list. All statements are prepared. */
import pg from 'pg'
import { numbers } from './numbers.js'

const time = (name) => `to_char(${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${name}`
const COLUMNS = `id, author_id, title, body, status, views, rating, published, ${time('created')}, ${time('updated')}`
const NAMES = ['author_id', 'title', 'body', 'status', 'views', 'rating', 'published']

export function openTexts({ url, table }) {
	const pool = new pg.Pool({ connectionString: url })
	const numberOf = numbers()
	const ask = async (name, text, values) => {
		const { rows } = await pool.query({ name: `${table} ${name}`, text, values, rowMode: 'array' })
		return rows
	}
	const page = async (name, text, values) => {
		const [[data, next]] = await ask(name, text, values)
		return { data, next: next ?? undefined }
	}
	const list = listOf(`select * from ${table} order by created desc, id desc limit $1 + 1 offset $2`)
	const after = listOf(
		`select * from ${table} where (created, id) < ($2, $3) order by created desc, id desc limit $1 + 1`,
	)
	const written = `returning id, (select row_to_json(v)::text from (select ${COLUMNS} from (select w.*) c) v)`
	return {
		async readAll(ids) {
			const columns = `select ${COLUMNS} from ${table} where id = any($1::int[])`
			const found = new Map(await ask('read', `select v.id, row_to_json(v)::text from (${columns}) v`, [ids]))
			return ids.map((id) => found.get(id))
		},
		list: (limit, offset, key) =>
			key === undefined ? page('list', list, [limit, offset]) : page('after', after, [limit, ...key]),
		async create(values) {
			const text = `insert into ${table} as w (${NAMES.join()}) values ($1,$2,$3,$4,$5,$6,$7) ${written}`
			const [[id, json]] = await ask(
				'create',
				text,
				NAMES.map((name) => values[name]),
			)
			return { id, text: json }
		},
		/** One statement for any number of records: each column is passed as an array. */
		async createMany(records) {
			const text = `with w as (insert into ${table} (${NAMES.join()})
					select * from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::int[], $6::float8[], $7::bool[])
					returning *)
				select '[' || string_agg(row_to_json(v)::text, ',') || ']' from (select ${COLUMNS} from w) v`
			const columns = NAMES.map((name) => records.map((record) => record[name]))
			return (await ask('create many', text, columns))[0][0]
		},
		async update(id, values) {
			const names = Object.keys(values) // the schema has left only columns
			const sets = names.map((name, index) => `${name} = $${index + 2}`)
			const text = `update ${table} as w set ${sets.join()} where id = $1 ${written}`
			const [row] = await ask(`update ${numberOf(names)}`, text, [id, ...Object.values(values)])
			return row?.[1]
		},
	}
}

/** The JSON is written in an outer select, so that it isn't written for the rows skipped by `offset`. */
function listOf(rows) {
	return `select coalesce('[' || string_agg(j, ',') filter (where n <= $1) || ']', '[]'),
			case when count(*) > $1 then max(k) filter (where n = $1) end
		from (select row_to_json(v)::text as j, row_number() over () as n,
				json_build_array(b.created, b.id)::text as k
			from (${rows}) b cross join lateral (select ${COLUMNS} from (select b.*) c) v) w`
}
