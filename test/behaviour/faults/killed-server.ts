/**
 * A program that serves articles with comments until it is killed, and prints its port:
 *
 *     node --import tsx test/behaviour/faults/killed-server.ts sqlite <file> full
 *     node --import tsx test/behaviour/faults/killed-server.ts postgres <table>
 *     node --import tsx test/behaviour/faults/killed-server.ts mariadb <table>
 */
import Libsql from 'libsql'
import pg from 'pg'
import { CrudHandler, createServer, type Model, transaction } from '../../../lib/index.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { openPool } from '../../helpers/mariadb.ts'
import { SERVER } from '../../helpers/postgres.ts'

const [store, place = ''] = process.argv.slice(2)

interface Models {
	readonly articles: Model
	readonly comments: Model
}

async function open(): Promise<Models> {
	// Long timeout: confirmed writes are checked, however slow this machine is.
	const patient = { timeoutSeconds: 60 }
	if (store === 'postgres') {
		const pool = new pg.Pool({ ...SERVER, max: 4 })
		return {
			articles: await PostgresModel.open(pool, place, patient),
			comments: await PostgresModel.open(pool, `${place}_comment`, patient),
		}
	}
	if (store === 'mariadb') {
		const pool = openPool({}, { connectionLimit: 4 })
		return {
			articles: await MysqlModel.open(pool, place, patient),
			comments: await MysqlModel.open(pool, `${place}_comment`, patient),
		}
	}
	const database = new Libsql(place)
	database.exec('pragma journal_mode = wal; pragma foreign_keys = on')
	return {
		articles: await SqliteModel.open(database, 'article'),
		comments: await SqliteModel.open(database, 'article_comment'),
	}
}

class Articles extends CrudHandler {
	/** As a POST of an article with its comments, by a method's own transaction. */
	post_transaction() {
		const { title, comments } = this.getParams({
			title: ['required', 'string'],
			comments: ['required', { of: [{ fields: { text: ['required', 'string'] } }] }],
		})
		return transaction([this, comment], async ([articles, own]) => {
			const made = await articles.create({ title })
			for (const { text } of comments) await own.create({ text, article: Number(made.id) })
			this.status(201)
			return made
		})
	}
}

const { articles, comments } = await open()
const comment = new CrudHandler(comments, {
	visible: ['id', 'article', 'text'],
	creatable: ['article', 'text'],
	allow: ['list', 'create'],
	maxLimit: 100_000,
})
const article = new Articles(articles, {
	visible: ['id', 'title'],
	updatable: ['title'],
	allow: ['list', 'create', 'update', 'createMany', 'updateMany', 'removeMany', 'upsert'],
	upsertOn: ['title'],
	maxLimit: 100_000,
	relations: { comments: { to: comment, writable: ['create'], limit: 10 } },
})
const { url } = await createServer({ article, comment }).listen()
console.log(`serving ${url}.`)
