import * as assert from 'uvu/assert'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { modelContract } from '../../../lib/testing/index.ts'
import { describe } from '../../helpers/describe.ts'
import { opened, sqliteDrivers, type TestDatabase } from '../../helpers/sqlite.ts'
import { suitesBy } from '../../helpers/suites-by.ts'

/** The table of the model contract, and those with other keys. */
const TABLES = `
	create table contract (
		id integer primary key, title text not null, note text, "order" integer, big bigint, ratio double,
		price decimal text, done boolean, day date, clock time, at datetime(6), token uuid, extra json,
		data blob, status text not null default 'draft', email varchar(200) unique,
		version integer not null default 1, parent integer references contract (id)
	);
	create table by_text (id text primary key, title text not null);
	create table by_uuid (
		id uuid primary key not null default (
			lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-8' ||
			substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
		),
		title text not null
	);
	create table several (id int, title text not null, tag text, day date, primary key (day, tag, id));
	create table by_bigint (id bigint primary key default (random()), title text not null);
	create table place (country text, region text, note text, primary key (country, region));
	create table person (id integer primary key, name text, boss int references person, country text, region text,
		foreign key (country, region) references place);
	create table post (id int primary key, title text not null, n int, author int references person (id),
		editor int references person);
	create table tag (id integer primary key, word text);
	create table tie (post int references post, tag int references tag, primary key (post, tag));
`

/** Decimals of 20 digits are exact as texts only, and are compared as texts. */
const AS_NUMBERS = ['price is compared by every operator', 'price orders up and down, nulls last both ways']

for (const { name, open } of suitesBy(sqliteDrivers)) {
	describe(`SqliteModel over ${name}: the contract`, (test) => {
		const databases: TestDatabase[] = []
		const make = (table: string) => () => {
			const database = opened(open)
			databases.push(database)
			database.exec(`pragma foreign_keys = on; ${TABLES}`)
			return SqliteModel.open(database, table)
		}
		const keys = {
			text: make('by_text'),
			uuid: make('by_uuid'),
			bigint: make('by_bigint'),
			several: make('several'),
		}
		const cases = modelContract({
			make: make('contract'),
			keys,
			relations: async () => {
				const place = await make('place')()
				const [database] = databases.slice(-1)
				const open = (table: string) => SqliteModel.open(database as TestDatabase, table)
				const [person, post, tag, tie] = [open('person'), open('post'), open('tag'), open('tie')]
				return { place, person: await person, post: await post, tag: await tag, tie: await tie }
			},
			// No text is refused for its length.
			skip: ['maxLength'],
			close: () => void databases.pop()?.close(),
		})
		const kept = cases.filter(({ name: promise }) => !AS_NUMBERS.includes(promise))
		test('every promise is tested except those that need decimals as numbers', () =>
			assert.is(kept.length, cases.length - AS_NUMBERS.length))
		for (const { name: promise, run } of kept) (open === undefined ? test.skip : test)(promise, run)
	})
}
