/** CRUD on Verbena: a handler per table, and the relations between them. */
import { CrudHandler, createServer } from '../../results/dist/index.js'
import { openModels } from '../crud/models.js'

export async function start({ database, url, tables }) {
	const [author, article, comment] = await openModels(database, url, [
		tables.author,
		tables.article,
		tables.comment,
	])
	const authors = new CrudHandler(author, { visible: 'all' })
	const comments = new CrudHandler(comment, { visible: 'all' })
	const articles = new CrudHandler(article, {
		visible: 'all',
		relations: { author: { to: authors }, comments: { to: comments, limit: 5 } },
	})
	const handlers = { 'api/author': authors, 'api/article': articles, 'api/comment': comments }
	const { port } = await createServer(handlers, { keepAliveTimeoutSeconds: 5 }).listen(0, '127.0.0.1')
	return port
}
