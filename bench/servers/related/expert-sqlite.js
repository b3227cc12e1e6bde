/** SQLite writes the JSON of a page in one statement: `json_group_array` of the newest comments, in a subquery per article. */
import { openFile } from '../crud/sqlite-driver.js'

export function openTexts({ url, tables: { author, article, comment } }) {
	const file = openFile(url)
	const own = `'id', b.id, 'author_id', b.author_id, 'title', b.title, 'summary', b.summary, 'status', b.status,
		'views', b.views, 'created', b.created`
	const related = `json_object(${own}, 'author',
		(select json_object('id', id, 'name', name, 'city', city, 'joined', joined) from ${author} where id = b.author_id),
		'comments', (select json_group_array(json_object('id', id, 'article_id', article_id, 'writer', writer,
			'body', body, 'likes', likes, 'created', created)) from (select * from ${comment} where article_id = b.id
			order by created desc, id desc limit 5)))`
	const listOf = (record, rows, order, keys, end) =>
		file
			.prepare(
				`select group_concat(j, ',' || char(10)), count(*), json_group_array(json(k)) from (select ${record} as j,
				json_array(${keys}) as k from ${rows} order by ${order} limit ? ${end})`,
			)
			.raw()
	const plain = `json_object(${own})`
	const newest = ['b.created desc, b.id desc', 'b.created, b.id']
	const ofWriter = `${article} b where exists (select 1 from ${comment} where article_id = b.id and writer = ?)`
	const named = `${article} b left join ${author} a on a.id = b.author_id`
	const statements = {
		list: listOf(related, `${article} b`, ...newest, 'offset ?'),
		plain: listOf(plain, `${article} b`, ...newest, 'offset ?'),
		commentedBy: listOf(plain, ofWriter, ...newest, ''),
		byAuthor: listOf(plain, named, 'a.name, b.id', 'a.name, b.id', 'offset ?'),
	}
	const one = file.prepare(`select ${related} from ${article} b where b.id = ?`).raw()
	return {
		list: (limit, offset) => pageOf(statements.list.get([limit + 1, offset]), limit),
		plain: (limit, offset) => pageOf(statements.plain.get([limit + 1, offset]), limit),
		commentedBy: (limit, writer) => pageOf(statements.commentedBy.get([writer, limit + 1]), limit),
		byAuthor: (limit, offset) => pageOf(statements.byAuthor.get([limit + 1, offset]), limit),
		read: (id) => one.get([id])[0],
	}
}

function pageOf([data, count, keys], limit) {
	if (count <= limit) return { data: `[${data ?? ''}]`, next: undefined }
	// The JSON of a record has no raw line break, so the last one is before the extra record.
	const next = JSON.stringify(JSON.parse(keys)[limit - 1])
	return { data: `[${data.slice(0, data.lastIndexOf(',\n'))}]`, next }
}
