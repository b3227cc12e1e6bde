/** The choices that check constraints give to fields. */
import * as assert from 'uvu/assert'
import { PostgresModel } from '../../../lib/models/postgres/model.ts'
import { describe } from '../../helpers/describe.ts'
import { type DriverName, driversHere } from '../../helpers/postgres.ts'
import { suitesBy } from '../../helpers/suites-by.ts'
import { databaseLater } from './databases.ts'

/** A column of each form, and the choices that it gives. */
const COLUMNS: readonly [name: string, sql: string, choices: readonly string[] | undefined][] = [
	['a', "text not null check (a in ('draft', 'it''s', 'ä€😀', '', 'draft'))", ['draft', "it's", 'ä€😀', '']],
	['b', "varchar(9) check (b in ('draft', 'public'))", ['draft', 'public']],
	['c', "text check (c = 'draft')", ['draft']],
	['d', "varchar check (d = 'draft')", ['draft']],
	['e', 'pgad_state', ['draft', 'public']],
	['f', "text constraint named check (length(f) < 9) check (f in ('draft'))", ['draft']],
	['g', "text check (g in ('draft') or g is null)", undefined],
	['h', "text check (h not in ('draft'))", undefined],
	['i', "text check (lower(i) in ('draft'))", undefined],
	['j', "text check (j::varchar(3) in ('draft'))", undefined],
	['k', "char(5) check (k in ('draft', 'other'))", undefined],
	['l', "text check (l = all (array['draft']))", undefined],
	['m', "text check (m in ('draft', n))", undefined],
	['n', "text check (n > 'draft')", undefined],
	['o', "text check (o in ('draft', null))", undefined],
	['p', "int check (p::text in ('1', '2'))", undefined],
	['q', "text check (o in ('draft'))", undefined],
	['r', 'text', undefined],
	['s', 'text', undefined],
	['t', "pgad_size check (t in ('S', 'M'))", ['S', 'M', 'L']],
]

const DROP =
	'drop table if exists pgad_checked; drop domain if exists pgad_state; drop type if exists pgad_size'

function checks(name: DriverName): void {
	describe(`check constraints of PostgreSQL by ${name}`, (test) => {
		const opened = databaseLater(name)

		test.before(async () => {
			const { exec } = await opened()
			const columns = COLUMNS.map(([column, sql]) => `${column} ${sql}`).join(', ')
			await exec(`${DROP}; create type pgad_size as enum ('S', 'M', 'L');
				create domain pgad_state as text check (value in ('draft', 'public')) check (length(value) < 9);
				create table pgad_checked (id serial primary key, ${columns});
				alter table pgad_checked add check (r in ('draft')) not valid;
				alter table pgad_checked add check (s in ('draft')) no inherit`)
		})
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(DROP)
			await close()
		})

		test('lists of texts are choices, other conditions are left to the database', async () => {
			const { database } = await opened()
			const { fields } = await PostgresModel.open(database, 'pgad_checked')
			const found = new Map(fields.map((field) => [field.name, field.choices]))
			// The check of `q` is one on `o`.
			for (const [column, sql, choices] of COLUMNS)
				assert.equal(found.get(column), column === 'o' ? ['draft'] : choices, sql)
		})
	})
}

for (const name of suitesBy(await driversHere())) checks(name)
