/**
 * A program that serves a table with exports and imports through a single connection, and prints its port; `GET /memory`
 * answers the bytes that it has used most, since that was asked the last time.
 *
 *     node --import tsx test/crud/transfer/transfer-server.ts sqlite <file>
 *     node --import tsx test/crud/transfer/transfer-server.ts postgres <table>
 */
import Libsql from 'libsql'
import pg from 'pg'
import { CrudHandler, createServer, type Model, RestHandler } from '../../../lib/index.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { openPool } from '../../helpers/mariadb.ts'
import { SERVER } from '../../helpers/postgres.ts'

const [store, place = ''] = process.argv.slice(2)

async function open(): Promise<Model> {
	// Long timeouts: answers are tested, however slow this machine is.
	const patient = { timeoutSeconds: 600 }
	if (store === 'postgres') return PostgresModel.open(new pg.Pool({ ...SERVER, max: 1 }), place, patient)
	if (store === 'mariadb') return MysqlModel.open(openPool({}, { connectionLimit: 1 }), place, patient)
	const database = new Libsql(place)
	database.exec('pragma journal_mode = wal')
	return SqliteModel.open(database, 'article')
}

let most = 0
const look = (): void => {
	most = Math.max(most, process.memoryUsage.rss())
}
setInterval(look, 20).unref()

class Memory extends RestHandler {
	get__default() {
		look()
		const bytes = most
		most = 0
		return bytes
	}
}

const article = new CrudHandler(await open(), {
	visible: ['id', 'title', 'number'],
	updatable: ['title', 'number'],
	allow: ['list', 'export', 'import'],
	maxImport: 10_000_000,
})
const { url } = await createServer({ article, memory: new Memory() }, { logRequests: false }).listen()
console.log(url)
