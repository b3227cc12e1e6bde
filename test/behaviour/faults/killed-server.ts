/**
 * A program that serves articles until it is killed, and prints its port:
 *
 *     node --import tsx test/behaviour/faults/killed-server.ts sqlite <file> full
 *     node --import tsx test/behaviour/faults/killed-server.ts postgres <table>
 */
import Libsql from 'libsql'
import pg from 'pg'
import { CrudHandler, createServer, type Model } from '../../../lib/index.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { SERVER } from '../../helpers/postgres.ts'

const [store, place = '', synchronous = 'full'] = process.argv.slice(2)

function open(): Promise<Model> {
	// Long timeout: confirmed writes are checked, however slow this machine is.
	const patient = { timeoutSeconds: 60 }
	if (store === 'postgres') return PostgresModel.open(new pg.Pool({ ...SERVER, max: 4 }), place, patient)
	const database = new Libsql(place)
	database.exec(`pragma journal_mode = wal; pragma synchronous = ${synchronous}`)
	return SqliteModel.open(database, 'article')
}

const article = new CrudHandler(await open(), {
	visible: ['id', 'title'],
	updatable: ['title'],
	allow: ['list', 'create', 'update', 'createMany', 'updateMany', 'removeMany', 'upsert'],
	upsertOn: ['title'],
	maxLimit: 100_000,
})
const { url } = await createServer({ article }).listen()
console.log(`serving ${url}.`)
