/**
 * After a server process was killed, every write that it had confirmed is stored, and lists of records, and records with
 * related ones, are stored completely or not at all.
 */
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere } from '../../helpers/mariadb.ts'
import { driversHere } from '../../helpers/postgres.ts'
import { trials } from '../../helpers/trials.ts'
import { killedOnMariadb, killedOnPostgres, killedOnSqlite } from './killed.ts'

const isPostgresHere = (await driversHere()).includes('pg')
const isMariadbHere = await mariadbIsHere()

const ROUNDS = trials(8)

describe('a process killed repeatedly while it writes', (test) => {
	test('SQLite, PostgreSQL and MariaDB hold each record answered 201 exactly once, and lists and articles with comments whole', async () => {
		const trials = [killedOnSqlite(ROUNDS)]
		if (isPostgresHere) trials.push(killedOnPostgres(ROUNDS))
		if (isMariadbHere) trials.push(killedOnMariadb(ROUNDS))
		await Promise.all(trials)
	})
})
