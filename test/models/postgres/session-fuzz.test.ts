/** 20 users in parallel, each in a session: nobody sees another user's records. `session-fuzz.long.ts` has more. */
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { pgbouncerHere } from '../../helpers/pgbouncer.ts'
import { databaseLater, driversHere } from '../../helpers/postgres.ts'
import { seedOf } from '../../helpers/seed.ts'
import { trials } from '../../helpers/trials.ts'
import { fuzzSessions, randomOf } from './session-fuzz.ts'
import { dropRolesSql, OWN, rolesSql } from './session-tables.ts'

const seed = seedOf('sessions of users in parallel')

if ((await driversHere()).includes('pg')) {
	const hasBouncer = await pgbouncerHere()
	describe('sessions of users in parallel', (test) => {
		const opened = databaseLater('pg')
		test.before(async () => (await opened()).exec(rolesSql))
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(dropRolesSql)
			await close()
		})

		const cases = [
			['pg', false],
			['postgres.js', false],
			['pg', true],
			['postgres.js', true],
		] as const
		for (const [driver, pooled] of cases.filter(([, pooled]) => hasBouncer || !pooled))
			test(`by ${driver}${pooled ? ' behind PgBouncer' : ''}, with connections killed`, async () => {
				const size = { users: 20, requests: 200, rounds: trials(2) }
				const random = randomOf(seed)
				const table = `${OWN}_fuzz`
				const { done } = await fuzzSessions(table, { driver, pooled, kills: true, random, ...size })
				assert.ok(done > 0, 'some were answered')
			})
	})
}
