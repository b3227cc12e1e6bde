/** Related records that the model doesn't embed, alone and besides embedded ones. */
import * as assert from 'uvu/assert'
import { CrudHandler, type CrudOptions, MemoryModel } from '../../../lib/index.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { opened, sqliteDrivers } from '../../helpers/sqlite.ts'

const VISIBLE: CrudOptions = { visible: ['id', 'name'] }

class Team extends CrudHandler {
	override scope() {
		return { team: this.request.header('x-team') }
	}
}

class Titled extends CrudHandler {
	override stripObject({ id, name }: Record<string, unknown>) {
		return { id, name: `Dr ${name}` }
	}
}

describe('related records that the model does not embed', (test) => {
	test('a record that belongs to all records of a page counts each time', async () => {
		const person = new MemoryModel('person', {
			fields: { id: 'integer', name: 'text' },
			key: 'id',
			rows: [{ name: 'x'.repeat(6_000_000) }],
		})
		const article = new MemoryModel('article', {
			fields: { id: 'integer', person_id: 'integer' },
			key: 'id',
			references: [{ field: 'person_id', model: person }],
			// Together they would be longer than a string can be.
			rows: Array.from({ length: 100 }, () => ({ person_id: 1 })),
		})
		const relations = { person: { to: new CrudHandler(person, VISIBLE) } }
		const { ask } = asking({ article: new CrudHandler(article, { visible: ['id'], relations }) })
		assert.is((await ask('/article?limit=1&include=person')).status, 200)
		for (const limit of [2, 100]) {
			const { status, text } = await ask(`/article?limit=${limit}&include=person`)
			assert.is(status, 400)
			assert.match(text(), '"code":"too_large"')
		}
	})

	test('besides embedded ones, each request has its own scope', async () => {
		const database = opened(sqliteDrivers.find(({ open }) => open !== undefined)?.open)
		database.exec(`create table person (id integer primary key, name varchar(20), team varchar(20));
			create table article (id integer primary key, author integer references person (id), editor integer references person (id));
			insert into person values (1, 'Ada', 'red'), (2, 'Bob', 'blue');
			insert into article values (1, 1, 2)`)
		const person = await SqliteModel.open(database, 'person')
		const article = await SqliteModel.open(database, 'article')
		const relations = {
			writer: { to: new Team(person, VISIBLE), by: 'author' },
			checker: { to: new Titled(person, VISIBLE), by: 'editor' },
		}
		const { said } = asking({ article: new CrudHandler(article, { visible: ['id'], relations }) })
		const checker = '"checker":{"id":2,"name":"Dr Bob"}'
		const seen = { red: '{"id":1,"name":"Ada"}', blue: 'null' }
		for (const team of ['red', 'red', 'blue', 'red', 'blue'] as const)
			assert.is(
				await said('/article/1?include=writer,checker', { headers: { 'x-team': team } }),
				`200 {"success":true,"data":{"id":1,"writer":${seen[team]},${checker}}}`,
			)
		database.close()
	})
})
