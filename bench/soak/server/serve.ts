/** A server process: answers its parent's `sample` and `snapshot`, and on `close` closes everything, so that it exits by itself. */
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import type { Server } from '../../../lib/index.ts'
import type { Assignment, Order, Report } from '../reports.ts'
import { countFaults } from './faults.ts'
import { Gauges, openSockets } from './gauges.ts'
import { OpenStreams } from './open-streams.ts'
import { TallyLog } from './tally-log.ts'

/** What a site is made of. */
export interface Materials extends Assignment {
	readonly pool: Pool
	readonly cache: Redis
	readonly log: TallyLog
	readonly streams: OpenStreams
}

/** @param make creates the site; tests pass a broken one */
export async function serve(make: (materials: Materials) => Promise<Server>): Promise<void> {
	const faults = countFaults()
	// Written by `member.ts`.
	const assignment = JSON.parse(process.env.SOAK_ASSIGNMENT ?? '{}') as Assignment
	const pool = new Pool({ connectionString: assignment.postgres, max: 8 })
	const cache = new Redis(assignment.redis)
	const log = new TallyLog()
	const streams = new OpenStreams()
	const gauges = new Gauges(collector())
	const server = await make({ ...assignment, pool, cache, log, streams })
	const counted = () => ({ streams: streams.count, faults: faults(), logged: log.logged })

	let isClosing = false
	async function close(): Promise<void> {
		isClosing = true
		const begun = performance.now()
		await server.close()
		const closeMs = performance.now() - begun
		await pool.end()
		await cache.quit()
		gauges.stop()
		// Sockets that have just ended are closed within the next turns of the event loop.
		for (let turn = 0; turn < 100 && openSockets() > 0; turn++) await turnOver()
		tell({ kind: 'closed', closed: { closeMs, sockets: openSockets(), ...counted() } })
		process.disconnect?.()
	}

	process.on('message', (order: Order) => {
		if (order === 'sample') tell({ kind: 'sample', sample: gauges.sample(counted()) })
		if (order === 'snapshot') tell({ kind: 'snapshot', file: gauges.snapshot() })
		if (order === 'close') void close()
	})
	// A terminal sends these to all processes. The parent handles them, and sends `close`.
	for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {})
	// The parent has died, so no `close` will come.
	process.on('disconnect', () => isClosing || process.exit(1))
	const { port } = await server.listen()
	tell({ kind: 'listening', port })
}

function collector(): () => void {
	const { gc } = globalThis
	if (gc === undefined) throw new Error('a server process needs --expose-gc')
	return () => void gc()
}

function tell(report: Report): void {
	process.send?.(report)
}

function turnOver(): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, 10))
}
