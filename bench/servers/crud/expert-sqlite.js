/** SQLite writes the JSON: `json_object` for a record, `group_concat` of it for a list. Reads aren't batched. */
import { openFile } from './sqlite-driver.js'

const RECORD = `json_object('id', id, 'author_id', author_id, 'title', title, 'body', body, 'status', status,
	'views', views, 'rating', rating, 'published', json(iif(published, 'true', 'false')),
	'created', created, 'updated', updated)`

export function openTexts({ url, table }) {
	const file = openFile(url)
	const listOf = (where, end) =>
		file
			.prepare(
				`select group_concat(j, ',' || char(10)), count(*), json_group_array(k) from (select ${RECORD} as j,
				json_array(created, id) as k from ${table} ${where} order by created desc, id desc limit ? ${end})`,
			)
			.raw()
	const one = file.prepare(`select ${RECORD} from ${table} where id = ?`).raw()
	const list = listOf('', 'offset ?')
	const after = listOf('where (created, id) < (?, ?)', '')
	return {
		read: (id) => one.get([id])?.[0],
		list(limit, offset, key) {
			const row = key === undefined ? list.get([limit + 1, offset]) : after.get([...key, limit + 1])
			const [data, count, keys] = row
			if (count <= limit) return { data: `[${data ?? ''}]`, next: undefined }
			// The JSON of a record has no raw line break, so the last one is before the extra record.
			return { data: `[${data.slice(0, data.lastIndexOf(',\n'))}]`, next: JSON.parse(keys)[limit - 1] }
		},
	}
}
