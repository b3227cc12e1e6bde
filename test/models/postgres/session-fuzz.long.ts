/** Like `session-fuzz.test.ts`, but longer, with and without killed connections. */
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { pgbouncerHere } from '../../helpers/pgbouncer.ts'
import { databaseLater, driversHere } from '../../helpers/postgres.ts'
import { seedOf } from '../../helpers/seed.ts'
import { trials } from '../../helpers/trials.ts'
import { fuzzSessions, randomOf } from './session-fuzz.ts'
import { dropRolesSql, OWN, rolesSql } from './session-tables.ts'

const seed = seedOf('sessions of users in parallel, for longer')

if ((await driversHere()).includes('pg')) {
	const hasBouncer = await pgbouncerHere()
	describe('sessions of users in parallel, for longer', (test) => {
		const opened = databaseLater('pg')
		test.before(async () => (await opened()).exec(rolesSql))
		test.after(async () => {
			const { exec, close } = await opened()
			await exec(dropRolesSql)
			await close()
		})

		for (const driver of ['pg', 'postgres.js'] as const)
			for (const pooled of hasBouncer ? [false, true] : [false])
				for (const kills of [false, true])
					test(`by ${driver}, pooled ${pooled}, killed ${kills}`, async () => {
						const size = { users: 20, requests: 200, rounds: trials(8) }
						const random = randomOf(seed)
						const table = `${OWN}_fuzz`
						const { done } = await fuzzSessions(table, { driver, pooled, kills, random, ...size })
						assert.ok(done > size.rounds * 50, `${done} were answered`)
					})
	})
}
