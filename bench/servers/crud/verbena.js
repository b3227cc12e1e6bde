/** CRUD on Verbena, from the published build: a handler with a model per table. */
import { CrudHandler, createServer } from '../../results/dist/index.js'
import { openModel } from './models.js'

const WRITABLE = ['author_id', 'title', 'body', 'status', 'views', 'rating', 'published']
const OPTIONS = {
	visible: ['id', ...WRITABLE, 'created', 'updated'],
	updatable: WRITABLE,
	allow: ['list', 'read', 'create', 'update'],
}

export async function start({ database, url, tables }) {
	const handlers = {}
	for (const [name, table] of Object.entries(tables)) {
		const model = await openModel(database, url, table)
		handlers[`api/${name}`] = new CrudHandler(model, OPTIONS)
		handlers[`api/${name}-many`] = new CrudHandler(model, { ...OPTIONS, allow: ['createMany'] })
	}
	const { port } = await createServer(handlers, { keepAliveTimeoutSeconds: 5 }).listen(0, '127.0.0.1')
	return port
}
