/** What works in a place where the package is used. Compiled with the package's names for each row of docs/runtimes.md. */
import * as redis from '../../../lib/cache/redis/redis-cache.ts'
import * as crudClient from '../../../lib/client/crud.ts'
import * as client from '../../../lib/client/index.ts'
import * as verbena from '../../../lib/index.ts'
import * as model from '../../../lib/models/index.ts'
import * as mysql from '../../../lib/models/mysql/model.ts'
import * as postgres from '../../../lib/models/postgres/model.ts'
import * as sql from '../../../lib/models/sql/index.ts'
import * as sqlite from '../../../lib/models/sqlite/model.ts'
import * as reactAdmin from '../../../lib/providers/react-admin.ts'
import * as refine from '../../../lib/providers/refine.ts'
import * as testing from '../../../lib/testing/index.ts'

const SUBPATHS = {
	...{ verbena, client, crudClient, model, mysql, postgres, reactAdmin, redis, refine, sql, sqlite, testing },
}

/** The table of the database, which has the text `text`, and no other field that must be given. */
export interface Place {
	/** Whether it can listen at a port. */
	readonly listens: boolean
	readonly database?: postgres.PostgresDatabase | undefined
	readonly table?: string | undefined
}

class Greeting extends verbena.RestHandler {
	override rateLimits = { get_greeting: { limit: 100, windowSeconds: 60 } }

	get_greeting(name = 'world'): { name: string } {
		return { name }
	}
}

/** What of it works, by column: `''`, or the error. */
export async function probe({ listens, database, table = '' }: Place): Promise<Record<string, string>> {
	const fields = { id: 'integer', text: 'text' } as const
	const memory = new verbena.MemoryModel('note', { fields, key: 'id' })
	const options = { visible: 'all', updatable: ['text'], allow: ['list', 'read', 'create'] } as const
	const row = database === undefined ? memory : await postgres.PostgresModel.open(database, table)
	const note = new verbena.CrudHandler(memory, options)
	const server = verbena.createServer({
		...{ api: new Greeting(), note },
		row: new verbena.CrudHandler(row, options),
	})
	const local = (url: string, init: client.FetchInit) => server.fetch(new Request(url, init))
	const { url = 'http://localhost', fetch: own = local } = listens
		? { url: (await server.listen(0)).url, fetch }
		: {}
	const checks: Record<string, () => Promise<unknown>> = {
		import: async () => Object.values(SUBPATHS).every((names) => Object.keys(names).length > 0),
		server: async () => {
			const response = await own(`${url}/api/greeting/Ada`, { method: 'GET', headers: new Headers() })
			return (await response.text()) === '{"success":true,"data":{"name":"Ada"}}'
		},
		inject: async () => {
			const failed = await server.inject({ url: '/api/nothing' })
			const { data } = (await server.inject({ url: '/api/greeting' })).json() as { data: { name: string } }
			return failed.status === 404 && data.name === 'world'
		},
		client: async () => {
			const api = client.client<Greeting>(`${url}/api`, { fetch: own })
			const notes = new client.CrudClient<{ id: number; text: string }>('note', url, { fetch: own })
			const { id } = await notes.create({ text: 'one' })
			const missing: unknown = await notes.get(id + 1).catch((error: unknown) => error)
			const { name } = await api.get.greeting('Bo')
			return name === 'Bo' && (await notes.get(id)).text === 'one' && missing instanceof client.ApiError
		},
		models: async () => {
			const created = await server.inject({ method: 'POST', url: '/row', body: { text: 'two' } })
			const { data } = created.json() as { data: { id: number; text: string } }
			const read = await server.inject({ url: `/row/${data.id}?fields=text` })
			return created.status === 201 && read.text() === '{"success":true,"data":{"text":"two"}}'
		},
	}
	const works: Record<string, string> = {}
	for (const [column, check] of Object.entries(checks)) {
		works[column] = await check().then(
			(isRight) => (isRight === true ? '' : 'another result'),
			(error: unknown) => String(error),
		)
	}
	await server.close()
	return works
}
