/** The choices that checks allow, in the SQL of tables. */
import * as assert from 'uvu/assert'
import { CrudHandler } from '../../../lib/index.ts'
import { checkedChoices } from '../../../lib/models/sqlite/catalog/check-choices.ts'
import { SqliteModel } from '../../../lib/models/sqlite/model.ts'
import { asking } from '../../helpers/asking.ts'
import { describe } from '../../helpers/describe.ts'
import { sqliteDrivers } from '../../helpers/sqlite.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { onDatabases } from './database.ts'

describe('SQLite: choices of checks', (test) => {
	const conditions: [condition: string, column: string, choices: string[]][] = [
		["state in ('draft', 'public')", 'state', ['draft', 'public']],
		["STATE IN('draft','draft')", 'state', ['draft']],
		["((state) in ('draft', 'public'))", 'state', ['draft', 'public']],
		["state = 'draft'", 'state', ['draft']],
		[`"a ""state""" in ('it''s', '', 'in ( "b" )')`, 'a "state"', ["it's", '', 'in ( "b" )']],
		["`state` /* ' */ in -- )\n ('a')", 'state', ['a']],
		["[my state] in ('a')", 'my state', ['a']],
	]
	for (const [condition, column, choices] of conditions)
		test(condition, () =>
			assert.equal([...checkedChoices(`create table t (a text check (${condition}))`)], [[column, choices]]),
		)

	const others: string[] = [
		'state',
		"state in ('a') or state is null",
		"state in ('a') and other in ('b')",
		"state not in ('a')",
		"not state in ('a')",
		"state <> 'a'",
		"lower(state) in ('a')",
		"state || 'a' = 'a'",
		"state collate nocase in ('a')",
		"'a' in (state)",
		"state in ('a', 1)",
		"state in ('a', other)",
		"state in (x'61')",
		"state in (select 'a')",
		'state in ("a")',
		'state in ()',
		"other.state in ('a')",
		"(state = 'a') or (state = 'b')",
	]
	for (const condition of others)
		test(`none of ${condition}`, () =>
			assert.is(checkedChoices(`create table t (a text check (${condition}))`).size, 0))

	test('a table has those of all its checks', () => {
		const sql = `create table "check" (
			id integer primary key check (id > 0), -- check (id in ('x'))
			state text not null default 'check (' check (state in ('draft', 'public')) unique,
			"check" text constraint named check("check"='a'),
			size text check (size in ('S', 'M') or size is null),
			check (length(size) < 3 and (state in ('draft'))), check (size in ('S', 'M', 'L'))
		)`
		assert.equal(
			[...checkedChoices(sql)],
			[
				['state', ['draft', 'public']],
				['check', ['a']],
				['size', ['S', 'M', 'L']],
			],
		)
		for (const broken of ['create table t (a check (a in (', 'create table t (a check', 'null'])
			assert.is(checkedChoices(broken).size, 0)
	})
})

for (const driver of suitesBy(sqliteDrivers)) {
	describe(`SqliteModel over ${driver.name}: choices of checks`, (test) => {
		const on = onDatabases(test, driver)

		on(
			`create table t (
				id integer primary key, State text check (state in ('draft', 'public')),
				loose text collate nocase check (loose in ('a')), n int check (n in ('1', '2'))
			);
			alter table t add column later varchar check (later = 'x');
			create view v as select state from t`,
			'are those of fields with exact texts',
			async (database) => {
				const choicesOf = async (name: string, key: string | string[]) =>
					(await SqliteModel.open(database, name, { key })).fields.map((field) => field.choices)
				const states = ['draft', 'public']
				assert.equal(await choicesOf('t', 'id'), [undefined, states, undefined, undefined, ['x']])
				assert.equal(await choicesOf('v', []), [undefined])
			},
		)

		on(
			"create table t (id integer primary key, state text check (state in ('draft', 'public')))",
			'are named in the answer, and null passes',
			async (database) => {
				const model = await SqliteModel.open(database, 't')
				const options = { visible: 'all', updatable: ['state'], allow: ['list', 'create'] } as const
				const { said } = asking({ t: new CrudHandler(model, options) })
				assert.match(
					await said('POST /t', { body: { state: 'drft' } }),
					/^422 .*must be one of draft, public/,
				)
				assert.match(await said('POST /t', { body: { state: null } }), /^201 /)
				assert.match(await said('POST /t', { body: { state: 'draft' } }), /^201 /)
				assert.match(await said('/t?state=drft'), /^400 /)
			},
		)
	})
}
