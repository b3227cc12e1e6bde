/** Fifty times over what `killed.test.ts` does twice. */
import { describe } from '../../helpers/describe.ts'
import { driversHere } from '../../helpers/postgres.ts'
import { killedOnPostgres, killedOnSqlite } from './killed.ts'

const isPostgresHere = (await driversHere()).includes('pg')

describe('a process killed fifty times while it writes', (test) => {
	test('to SQLite, synchronous full and normal, and to PostgreSQL: what was answered 201 is there, once', async () => {
		const trials = [killedOnSqlite(50, 'full'), killedOnSqlite(50, 'normal')]
		if (isPostgresHere) trials.push(killedOnPostgres(50))
		await Promise.all(trials)
	})
})
