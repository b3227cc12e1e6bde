/** Replicas of an SQL database: which one is read from, and when none is. The servers are counters in this process. */
import * as assert from 'uvu/assert'
import type { Driver, Rows, Statement } from '../../../../lib/models/sql/driver.ts'
import { NoAnswer, NoConnection } from '../../../../lib/models/sql/pool.ts'
import { type Replication, SqlReplica } from '../../../../lib/models/sql/replicas/replica.ts'
import { SqlReplicas } from '../../../../lib/models/sql/replicas/replicas.ts'
import { describe } from '../../../helpers/describe.ts'
import { until } from '../../../helpers/listening.ts'

/** A server's position is a number. */
const REPLICATION: Replication<number> = {
	same: { cluster: 'cluster' },
	position: ['is_primary', 'at'],
	read([isPrimary, at]) {
		return { isPrimary: isPrimary === true, at: Number(at) }
	},
	hasReached: (server, primary) => server >= primary,
	consequenceOf: (error) => {
		const { message } = error as Error
		return message === 'down' || message === 'again' ? message : undefined
	},
}

class FakeServer implements Driver {
	at = 0
	asked = 0
	cluster = 'a'
	isPrimary = false
	/** What it does instead of answering. */
	instead: (() => Promise<Rows>) | undefined

	async query(): Promise<Rows> {
		this.asked++
		if (this.instead !== undefined) return this.instead()
		return { rows: [[this.cluster, this.isPrimary, this.at]], affected: 0 }
	}

	async transaction<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
		return work(this)
	}
}

const DOWN = () => Promise.reject(new Error('down'))

/** Times in seconds. With `staleSeconds: 1` the servers are asked every 100 ms of real time. */
async function started(count: number, staleSeconds = 1) {
	let now = 1_000_000
	const primary = new FakeServer()
	primary.isPrimary = true
	const servers = Array.from({ length: count }, () => new FakeServer())
	const drivers = { primary, replicas: servers.map((driver) => ({ driver })) }
	const replicas = new SqlReplicas('Test', drivers, staleSeconds, REPLICATION, () => now)
	await replicas.begin()
	const asked = async (all: readonly FakeServer[] = [primary, ...servers], rounds = 2) => {
		const before = all.map((one) => one.asked)
		await until(() => all.every((one, at) => one.asked >= (before[at] ?? 0) + rounds), 'they were asked')
		await new Promise(setImmediate)
	}
	return {
		...{ primary, servers, replicas, asked },
		pass: (seconds: number) => {
			now += seconds * 1_000
		},
		used: () => replicas.states.map(({ isUsed }) => isUsed),
	}
}

describe('replicas of an SQL database', (test) => {
	test('are used as long as they have reached where the primary was within staleSeconds', async () => {
		const { primary, servers, used, pass, asked, replicas } = await started(2)
		assert.equal(used(), [true, true])
		const [first, second] = servers as [FakeServer, FakeServer]
		primary.at = 5
		first.at = 5
		pass(0.9)
		await asked()
		pass(0.2)
		await asked()
		assert.equal(used(), [true, false])
		assert.is(replicas.states[1]?.lagSeconds, Number.POSITIVE_INFINITY)
		second.at = 4
		await asked()
		assert.equal(used(), [true, false])
		second.at = 5
		await asked()
		assert.equal(used(), [true, true])
	})

	test('an idle primary is no lag', async () => {
		const { used, pass, asked, replicas } = await started(1)
		for (let times = 0; times < 5; times++) {
			pass(0.9)
			replicas.choose('x')
			await asked()
			assert.equal(used(), [true])
		}
	})

	test('one that fails is left out, and used again when it answers; with none left there is none', async () => {
		const { servers, used, asked, replicas } = await started(2)
		const [first, second] = servers as [FakeServer, FakeServer]
		first.instead = DOWN
		await asked()
		assert.equal(used(), [false, true])
		assert.is(String(replicas.states[0]?.error), 'Error: down')
		second.instead = DOWN
		await asked()
		assert.is(replicas.choose('x'), undefined)
		first.instead = undefined
		await asked()
		assert.equal(used(), [true, false])
	})

	test('one that does not answer is left out', async () => {
		const { servers, used, pass, asked, primary } = await started(2)
		const [first, second] = servers as [FakeServer, FakeServer]
		first.instead = () => new Promise(() => {})
		await asked([primary, second])
		assert.equal(used(), [true, true])
		pass(1.1)
		assert.is(used()[0], false)
	})

	test('a caller who has written reads from the primary for staleSeconds, and then by a replica that has it', async () => {
		const { primary, servers, replicas, pass, asked } = await started(1, 2)
		replicas.noteWrite('ada')
		assert.is(replicas.choose('ada'), undefined)
		assert.ok(replicas.choose('bob'))
		pass(1.9)
		assert.is(replicas.choose('ada'), undefined)
		pass(0.2)
		await asked()
		assert.ok(replicas.choose('ada'))
		primary.at = 7
		replicas.noteWrite('ada')
		pass(2.1)
		await asked()
		assert.is(replicas.choose('ada'), undefined, 'the replica lags')
		;(servers[0] as FakeServer).at = 7
		await asked()
		assert.ok(replicas.choose('ada'))
	})

	test('while the primary does not respond, replicas that had caught up are used, except by callers who have written since', async () => {
		const { primary, servers, replicas, pass, asked, used } = await started(2)
		const [first] = servers as [FakeServer, FakeServer]
		pass(0.1)
		primary.at = 3
		first.at = 3
		await asked()
		primary.instead = DOWN
		pass(0.1)
		replicas.noteWrite('ada')
		pass(4)
		await asked()
		assert.equal(used(), [true, false])
		// Others' changes don't make it forget this one.
		replicas.noteWrite('bob')
		pass(4)
		await asked()
		assert.ok(replicas.choose('cyd'))
		assert.is(replicas.choose('ada'), undefined)
		primary.instead = undefined
		await asked()
		assert.ok(replicas.choose('ada'))
	})

	test('nothing is learned from a primary that is a replica itself', async () => {
		const { primary, used, pass, asked, servers } = await started(1)
		primary.at = 3
		for (const one of servers) one.at = 3
		await asked()
		primary.isPrimary = false
		primary.at = 2
		pass(0.5)
		await asked()
		primary.isPrimary = true
		primary.at = 9
		pass(0.6)
		await asked()
		assert.equal(used(), [false])
	})

	test('without reads no server is queried, and the first read goes to the primary', async () => {
		const { primary, replicas, pass, asked } = await started(1)
		pass(11)
		await new Promise((resolve) => setTimeout(resolve, 250))
		const { asked: before } = primary
		await new Promise((resolve) => setTimeout(resolve, 250))
		assert.is(primary.asked, before)
		assert.is(replicas.choose('x'), undefined)
		await asked(undefined, 1)
		assert.ok(replicas.choose('x'))
	})

	test('the one with the fewest reads is chosen, in turn', async () => {
		const { replicas } = await started(3)
		const chosen = (): SqlReplica => {
			const one = replicas.choose('x')
			assert.instance(one, SqlReplica)
			return one as SqlReplica // as asserted
		}
		assert.is(new Set([chosen(), chosen(), chosen()]).size, 3)
		const busy = chosen()
		busy.reading = 5
		for (let times = 0; times < 6; times++) assert.is.not(chosen(), busy)
	})

	test('a server of another database is refused', async () => {
		const primary = new FakeServer()
		primary.isPrimary = true
		const other = new FakeServer()
		other.cluster = 'b'
		const drivers = { primary, replicas: [{ driver: new FakeServer() }, { driver: other }] }
		const error: unknown = await new SqlReplicas('Test', drivers, 1, REPLICATION).begin().catch((one) => one)
		assert.instance(error, TypeError)
		assert.is((error as Error).message, 'Test: read[1] is not a replica of write: its cluster is b, not a')
	})
})

const READ: Statement = { text: 'select 1', values: [], writes: false }

describe('a read at a replica', (test) => {
	const tried = async (error: Error, statement = READ) => {
		const own = new FakeServer()
		const primary = new FakeServer()
		own.instead = () => Promise.reject(error)
		const replica = new SqlReplica(REPLICATION, () => 0)
		const rows = replica.read(own, primary, (driver) => driver.query(statement))
		const result: unknown = await rows.then(
			() => 'answered',
			(failure) => failure,
		)
		assert.is(replica.reading, 0)
		return { result, isDown: replica.error !== undefined, asked: primary.asked }
	}

	test('that has failed is done by the primary, and the replica is left out if it is down', async () => {
		assert.equal(await tried(new Error('down')), { result: 'answered', isDown: true, asked: 1 })
		assert.equal(await tried(new Error('again')), { result: 'answered', isDown: false, asked: 1 })
		const refused = new NoConnection(new Error('refused'))
		assert.equal(await tried(refused), { result: 'answered', isDown: true, asked: 1 })
	})

	test('that took too long, or would fail there too, is not', async () => {
		for (const error of [new NoAnswer(), new NoConnection(), new Error('invalid')])
			assert.equal(await tried(error), { result: error, isDown: false, asked: 0 })
	})
})

describe('the callers who have written', (test) => {
	test('are forgotten if there are too many; then any caller may be one of those', async () => {
		const { replicas, pass, asked } = await started(1)
		replicas.noteWrite('first')
		pass(0.01)
		for (let count = 0; count < 12_000; count++) replicas.noteWrite(`user:${count}`)
		pass(0.5)
		await asked()
		assert.is(replicas.choose('never wrote'), undefined)
		pass(0.6)
		await asked()
		assert.ok(replicas.choose('never wrote'))
		assert.ok(replicas.choose('first'))
	})
})
