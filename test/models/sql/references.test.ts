/** Foreign keys after the schema was reloaded. */
import * as assert from 'uvu/assert'
import { LiveTable, referencesTo } from '../../../lib/models/sql/live-table.ts'
import { columnsOf } from '../../../lib/models/sql/table.ts'
import { driverOf } from '../../../lib/models/sqlite/driver.ts'
import { findListing, introspect } from '../../../lib/models/sqlite/introspect.ts'
import { describe } from '../../helpers/describe.ts'
import { stage } from './stage.ts'

const OWNER = 'create table owner (id integer primary key, name text unique, note text);'
const ITEM =
	'create table item (id integer primary key, owner int references owner, again int references owner, n int)'

describe('referencesTo', (test) => {
	/** The references by fields before and after a change, seen at the next reload. */
	async function after(change: string) {
		const { database, dialect } = stage(`${OWNER} ${ITEM}`)
		const driver = driverOf(database)
		const read = (table: string) =>
			introspect(driver, findListing(driver, table), { key: ['id'], bigint: 'number' })
		const live = (table: string) => new LiveTable(read(table), dialect, async () => read(table))
		const [item, owner] = [live('item'), live('owner')]
		const found = () => referencesTo(item, owner).map(({ fields, to }) => `${fields} → ${to}`)
		const before = found()
		database.exec(change)
		await item.handleOutdated(new Error('outdated'), true).catch(() => {})
		const result = [before.sort(), found().sort()]
		database.close()
		return result
	}
	const BOTH = ['again → id', 'owner → id']

	test('a key is gone with its column', async () => {
		const rebuilt = `drop table item; create table item (id integer primary key, owner int references owner, n int)`
		assert.equal(await after(rebuilt), [BOTH, ['owner → id']])
	})

	test('keys that were added or dropped are found, though no column has changed', async () => {
		const rebuilt = `drop table item; create table item (id integer primary key, owner int,
			again int references owner, n int references owner)`
		assert.equal(await after(rebuilt), [BOTH, ['again → id', 'n → id']])
	})

	test('a key of a column that the model does not have as a field is left out', async () => {
		assert.equal(await after('alter table item add column more int references owner'), [BOTH, BOTH])
	})

	test('a key to a column that is gone is left out', async () => {
		const { dialect, table } = stage(
			`${OWNER} create table item (id int primary key, owner text references owner (name))`,
		)
		const item = new LiveTable(table, dialect)
		const other = stage(OWNER, 'owner').table
		const owner = new LiveTable(other, dialect)
		assert.equal(referencesTo(item, owner), [{ fields: ['owner'], to: ['name'] }])
		const rest = { ...other, columns: other.columns.filter(({ name }) => name !== 'name') }
		owner.subject = { ...owner.subject, table: rest, columns: columnsOf(rest, new Set(['name'])) }
		assert.equal(referencesTo(item, owner), [])
	})

	test('the same key is found once, whatever the order of its fields', () => {
		const { dialect, table } =
			stage(`create table owner (a int, b int, primary key (a, b)); create table item (
			id int primary key, a int, b int, foreign key (a, b) references owner (a, b),
			foreign key (b, a) references owner (b, a), foreign key (a, b) references owner (b, a))`)
		const other = { ...table, name: 'owner' }
		const found = referencesTo(new LiveTable(table, dialect), new LiveTable(other, dialect))
		assert.equal(
			found
				.map(({ fields, to }) =>
					fields
						.map((field, at) => `${field} → ${to[at]}`)
						.sort()
						.join(),
				)
				.sort(),
			['a → a,b → b', 'a → b,b → a'],
		)
	})
})
