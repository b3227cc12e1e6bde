/** A process that is killed keeps what it has promised; `killed.long.ts` does it again and again. */
import { describe } from '../../helpers/describe.ts'
import { driversHere } from '../../helpers/postgres.ts'
import { killedOnPostgres, killedOnSqlite } from './killed.ts'

const isPostgresHere = (await driversHere()).includes('pg')

describe('a process killed while it writes', (test) => {
	// Both at once: most of the time goes by while programs start.
	test('to SQLite or to PostgreSQL: what was answered 201 is there, once', async () => {
		await Promise.all([killedOnSqlite(2, 'normal'), isPostgresHere ? killedOnPostgres(2) : undefined])
	})
})
