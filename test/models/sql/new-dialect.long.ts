/** A dialect written from docs/models.md alone, with the exports of `verbena/sql` and `verbena/model`. */
import { readdirSync, readFileSync } from 'node:fs'
import Database from 'libsql/promise'
import * as assert from 'uvu/assert'
import { modelContract } from '../../../lib/testing/index.ts'
import { describe } from '../../helpers/describe.ts'
import { LINK_TABLES, type LinkModels, linkTests, openLinkModels } from '../link-cases.ts'
import { NewModel } from './new-dialect/model.ts'

const TABLES = {
	contract: `id integer primary key, title text not null, note text, "order" int, big bigint, ratio double,
		done boolean, day date, clock time, at datetime, token uuid, extra json text, data blob,
		status text not null default 'draft', email varchar(200) unique, version int not null default 1,
		parent int references contract`,
	by_text: 'id text primary key, title text not null',
	by_uuid: `id uuid primary key default (lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4a11-8a11-' ||
		hex(randomblob(6)))), title text not null`,
	by_bigint: 'id integer primary key, title text not null',
	several: 'id int, title text not null, tag text, day date, primary key (day, tag, id)',
	place: 'country text, region text, note text, primary key (country, region)',
	person: `id integer primary key, name text, boss int references person (id), country text, region text,
		foreign key (country, region) references place (country, region)`,
	post: `id int primary key, title text not null, n int, author int references person (id),
		editor int references person (id)`,
	tag: 'id integer primary key, word text',
	tie: 'post int references post (id), tag int references tag (id), primary key (post, tag)',
}

describe('a new dialect: links', (test) => {
	const database = new Database(':memory:', {})
	let models: LinkModels

	test.before(async () => {
		await database.exec(LINK_TABLES.join(';'))
		models = await openLinkModels((table) => NewModel.open(database, table))
	})

	linkTests(test, () => models)

	test.after(() => database.close())
})

describe('a new dialect: the contract', (test) => {
	const database = new Database(':memory:', {})
	const make = (table: keyof typeof TABLES) => async () => {
		await database.exec(`drop table if exists ${table}; create table ${table} (${TABLES[table]})`)
		return NewModel.open(database, table)
	}
	const keys = {
		text: make('by_text'),
		uuid: make('by_uuid'),
		bigint: make('by_bigint'),
		several: make('several'),
	}
	test.before(() => database.exec('pragma foreign_keys = on'))
	const relations = async () => {
		await database.exec('drop table if exists tie; drop table if exists post; drop table if exists person')
		const [place, person, post] = [await make('place')(), await make('person')(), await make('post')()]
		return { place, person, post, tag: await make('tag')(), tie: await make('tie')() }
	}
	const options = { make: make('contract'), keys, relations, skip: ['decimal', 'nan'] } as const
	for (const { name, run } of modelContract(options)) test(name, run)

	test('openAll opens every table with a key', async () => {
		assert.equal(Object.keys(await NewModel.openAll(database)).sort(), Object.keys(TABLES).sort())
	})

	test('a transaction excludes concurrent writes by another model of the database', async () => {
		const [one, other] = [await make('by_text')(), await make('by_bigint')()]
		const selection = { fields: ['id'], names: ['id'], version: undefined }
		let change: Promise<unknown> | undefined
		const work = one.transaction(async (model) => {
			change = other.create({ title: 'kept' }, selection)
			await model.create({ id: 'a', title: 'undone' }, selection)
			throw new Error('undo')
		})
		await work.catch(() => change)
		assert.equal([await one.count(undefined), await other.count(undefined)], [0, 1])
	})

	test('a closed database is unavailable, to transactions too', async () => {
		const closed = new Database(':memory:', {})
		await closed.exec('create table t (id integer primary key)')
		const model = await NewModel.open(closed, 't')
		closed.close()
		const kindOf = (error: { readonly kind?: string }) => error.kind
		assert.is(await model.count(undefined).catch(kindOf), 'unavailable')
		assert.is(await model.transaction(() => model.count(undefined)).catch(kindOf), 'unavailable')
	})

	test('it imports nothing but the public modules', () => {
		const folder = new URL('new-dialect/', import.meta.url)
		const texts = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'))
		const imports = texts.flatMap((text) => [...text.matchAll(/from '(\.\.[^']+)'/g)].map(([, from]) => from))
		assert.equal([...new Set(imports)].sort(), [
			'../../../../lib/models/index.ts',
			'../../../../lib/models/sql/index.ts',
		])
	})

	test.after(() => database.close())
})
