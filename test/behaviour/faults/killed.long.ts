/** A killed process keeps every write that it has confirmed, and lists of records as a whole or not at all. */
import { describe } from '../../helpers/describe.ts'
import { driversHere } from '../../helpers/postgres.ts'
import { trials } from '../../helpers/trials.ts'
import { killedOnPostgres, killedOnSqlite } from './killed.ts'

const isPostgresHere = (await driversHere()).includes('pg')

const ROUNDS = trials(8)

describe('a process killed repeatedly while it writes', (test) => {
	test('SQLite (synchronous full and normal) and PostgreSQL hold each record answered 201 exactly once, and lists whole', async () => {
		const trials = [killedOnSqlite(ROUNDS, 'full'), killedOnSqlite(ROUNDS, 'normal')]
		if (isPostgresHere) trials.push(killedOnPostgres(ROUNDS))
		await Promise.all(trials)
	})
})
