/** A process that is killed keeps what it has promised. */
import { describe } from '../../helpers/describe.ts'
import { driversHere } from '../../helpers/postgres.ts'
import { trials } from '../../helpers/trials.ts'
import { killedOnPostgres, killedOnSqlite } from './killed.ts'

const isPostgresHere = (await driversHere()).includes('pg')

const ROUNDS = trials(8)

describe('a process killed again and again while it writes', (test) => {
	test('to SQLite, synchronous full and normal, and to PostgreSQL: what was answered 201 is there, once', async () => {
		const trials = [killedOnSqlite(ROUNDS, 'full'), killedOnSqlite(ROUNDS, 'normal')]
		if (isPostgresHere) trials.push(killedOnPostgres(ROUNDS))
		await Promise.all(trials)
	})
})
