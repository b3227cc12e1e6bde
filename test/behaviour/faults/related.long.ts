/** Requests through relations while database servers are killed, and while connections are ended many times. */
import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { mariadbIsHere, ownMariadb } from '../../helpers/mariadb.ts'
import { ownPostgres, ownPostgresHere } from '../../helpers/postgres.ts'
import { trials } from '../../helpers/trials.ts'
import { atRelated, underFire } from './related.ts'
import { type RelatedCase, relatedCases } from './related-stores.ts'

/** Done to a server while requests are sent; resolves when it may serve again. */
type Harm = (name: string, run: (rows: (text: string) => Promise<string[][]>) => Promise<void>) => void

interface Own {
	readonly port: number
	start(): Promise<void>
	kill(): Promise<void>
	remove(): Promise<void>
}

const [cases, isPostgresHere, isMariadbHere] = [
	(await relatedCases()).filter(({ isSteady }) => isSteady),
	await ownPostgresHere(),
	await mariadbIsHere(),
]

for (const { name, open } of cases)
	describe(`relations over connections that are ended, ${name}`, (test) => {
		test('hundreds of times: reads are whole or 503, writes are as their answers say', () =>
			atRelated(open(), async (site) => {
				const seen = await underFire(site, trials(300), () => site.store.end('any'))
				assert.ok(seen.unavailable > 0, JSON.stringify(seen))
			}))
	})

/** Kills the server, and starts it again once its processes have gone. */
async function restarted({ kill, start }: Own): Promise<void> {
	await kill()
	await setTimeout(Math.random() * 300)
	const isStarted = () =>
		start().then(
			() => true,
			() => false,
		)
	await until(isStarted, 'the server starts')
}

function killed(
	{ name, open }: RelatedCase,
	make: () => Promise<Own>,
	more: (harm: Harm, own: () => Own) => void,
) {
	describe(`relations over a server that is killed, ${name}`, (test) => {
		let own: Own
		test.before(async () => {
			own = await make()
		})
		test.after(() => own.remove())
		const harm: Harm = (title, run) =>
			test(`${title}: reads are whole or 503, writes are as their answers say`, () =>
				atRelated(open({ port: own.port }), async (site) => {
					const seen = await underFire(site, trials(5), () => run(site.store.rows))
					assert.ok(seen.unavailable > 0, JSON.stringify(seen))
				}))
		harm('-9, and started again', () => restarted(own))
		more(harm, () => own)
	})
}

for (const one of cases) {
	if (one.name === 'pg' && isPostgresHere)
		killed(one, ownPostgres, (harm) =>
			harm('one of its processes -9, so that it recovers', async (rows) => {
				const sessions = "pg_stat_activity where application_name like 'faults_related_%'"
				const found = await rows(`select pid from ${sessions} order by random() limit 1`).catch(() => [])
				for (const [pid] of found) killIfThere(Number(pid))
			}),
		)
	if (one.name === 'MariaDB' && isMariadbHere) killed(one, ownMariadb, () => {})
}

/** The connection may have ended since its process was found. */
function killIfThere(pid: number): void {
	try {
		process.kill(pid, 'SIGKILL')
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
	}
}
