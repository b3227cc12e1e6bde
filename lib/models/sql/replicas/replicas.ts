/**
 * `SqlReplicas`: the replicas of an SQL database. Polls the primary for its position and the replicas for theirs. A replica
 * that has reached a position of the primary has everything up to the time when the primary was asked for it: this needs
 * neither synchronized clocks nor privileges. Opened by the adapters' `model.ts` if a database has replicas.
 */
import { attach, attachment } from '../../../base/attached.ts'
import { type Bytes, type Clock, type Milliseconds, type Seconds, steadyClock } from '../../../base/time.ts'
import type { Replica, ReplicaState, Replicas } from '../../replicas.ts'
import type { Driver, Rows, Statement } from '../driver.ts'
import { type Position, type Replication, SqlReplica } from './replica.ts'
import type { Pools } from './replicated.ts'

/** The servers are polled ten times per `staleSeconds`, but at least once and at most ten times a second. */
const ASKS = 10
const MIN_INTERVAL: Milliseconds = 100
const MAX_INTERVAL: Milliseconds = 1_000
/** Polling stops after this time without a read. */
const IDLE: Milliseconds = 10_000

/** A position of the primary. */
interface Mark {
	/** When the primary was asked for it. */
	readonly time: Milliseconds
	readonly at: unknown
}

/** What a server has reported. */
interface Reported {
	/** The values of `Replication.same`. */
	readonly facts: readonly unknown[]
	readonly position: Position<unknown>
}

/** The drivers of one call of `open`. */
export interface Drivers {
	readonly primary: Driver
	readonly replicas: readonly Connecting[]
}

export interface Connecting {
	readonly driver: Driver
	/** Checks the connection before the first statement. @throws TypeError */
	begin?(): Promise<void>
}

export class SqlReplicas implements Replicas {
	readonly #owner: string
	readonly #drivers: Drivers
	readonly #replication: Replication
	readonly #clock: Clock
	readonly #stale: Milliseconds
	readonly #interval: Milliseconds
	readonly #replicas: readonly SqlReplica[]
	readonly #statement: Statement
	readonly #begun = new Set<Connecting>()
	readonly #writers = new Writers()
	/** Oldest first. */
	#marks: Mark[] = []
	#facts: readonly unknown[] | undefined
	#isMarking = false
	#timer: ReturnType<typeof setInterval> | undefined
	#usedAt: Milliseconds = 0
	#turn = 0

	/** @param owner names the model in errors */
	constructor(
		owner: string,
		drivers: Drivers,
		staleSeconds: Seconds,
		replication: Replication,
		clock: Clock = steadyClock,
	) {
		this.#owner = owner
		this.#drivers = drivers
		this.#replication = replication
		this.#clock = clock
		this.#stale = staleSeconds * 1_000
		this.#interval = Math.min(MAX_INTERVAL, Math.max(MIN_INTERVAL, this.#stale / ASKS))
		this.#replicas = drivers.replicas.map(() => new SqlReplica(replication, clock))
		const asked = [...Object.values(replication.same), ...replication.position]
		this.#statement = { text: `select ${asked.join(', ')}`, values: [], writes: false }
	}

	/** Asks all servers for the first time. @throws TypeError for a replica of another database, and what the primary throws */
	async begin(): Promise<this> {
		await this.#mark()
		await this.#askReplicas()
		const wrong = this.#replicas.find(({ error }) => error instanceof TypeError)
		if (wrong !== undefined) throw wrong.error
		this.#usedAt = this.#clock()
		this.#start()
		return this
	}

	/** Lets the models of one call of `open` use the replicas. */
	add({ primary, replicas }: Drivers): void {
		for (const [at, replica] of this.#replicas.entries()) {
			const own = replicas[at]
			if (own !== undefined) replica.add(primary, own.driver)
		}
		primary.replicas = this
	}

	/** The replica with the fewest reads, of those that lag by no more than `staleSeconds`. */
	choose(caller: string): Replica | undefined {
		const now = this.#clock()
		this.#usedAt = now
		if (this.#timer === undefined) this.#start()
		const since = this.#writers.latest(caller)
		if (now - since <= this.#stale) return undefined
		let chosen: SqlReplica | undefined
		this.#turn = (this.#turn + 1) % this.#replicas.length
		for (let at = 0; at < this.#replicas.length; at++) {
			const one = this.#replicas[(this.#turn + at) % this.#replicas.length]
			if (one === undefined || !this.#isFit(one, now) || one.freshAt <= since) continue
			if (chosen === undefined || one.reading < chosen.reading) chosen = one
		}
		return chosen
	}

	noteWrite(caller: string): void {
		const now = this.#clock()
		// While the primary doesn't respond, replicas may lack changes that are older than `staleSeconds`.
		const known = this.#marks.at(-1)?.time ?? now
		this.#writers.note(caller, now, Math.min(now - this.#stale, known))
	}

	/** In the order of `read`. */
	get states(): readonly ReplicaState[] {
		const now = this.#clock()
		return this.#replicas.map((one) => ({
			isUsed: this.#isFit(one, now),
			lagSeconds: (now - one.freshAt) / 1_000,
			error: one.error,
		}))
	}

	/** While the primary doesn't respond, a replica that has reached its last position stays usable. */
	#isFit({ responds, freshAt }: SqlReplica, now: Milliseconds): boolean {
		return responds && freshAt >= Math.min(now - this.#stale, this.#marks.at(-1)?.time ?? now)
	}

	#start(): void {
		this.#timer = setInterval(() => this.#poll(), this.#interval)
		this.#timer.unref?.()
		this.#poll()
	}

	#poll(): void {
		if (this.#clock() - this.#usedAt > IDLE) {
			clearInterval(this.#timer)
			this.#timer = undefined
			this.#marks = []
			for (const replica of this.#replicas) replica.freshAt = Number.NEGATIVE_INFINITY
			return
		}
		const marked = this.#mark().catch(() => {})
		if (this.#marks.length === 0) void marked.then(() => this.#askReplicas())
		else void this.#askReplicas()
	}

	/** Asks the primary for its position. */
	async #mark(): Promise<void> {
		if (this.#isMarking) return
		this.#isMarking = true
		const time = this.#clock()
		try {
			const { facts, position } = this.#parse('write', await this.#drivers.primary.query(this.#statement))
			// The address leads to a replica: nothing is known of the primary.
			if (!position.isPrimary) return
			this.#facts = facts
			const last = this.#marks.at(-1)
			const oldest = Math.min(this.#clock() - this.#stale, last?.time ?? time)
			this.#marks = [...this.#marks.filter((mark) => mark.time >= oldest), { time, at: position.at }]
		} finally {
			this.#isMarking = false
		}
	}

	async #askReplicas(): Promise<void> {
		await Promise.all(
			this.#replicas.map((replica, at) => replica.learn(async () => this.#freshAt(await this.#ask(at), at))),
		)
	}

	async #ask(at: number): Promise<Rows> {
		const replica = this.#drivers.replicas[at] as Connecting // one for each of `#replicas`
		if (!this.#begun.has(replica)) await replica.begin?.()
		this.#begun.add(replica)
		return replica.driver.query(this.#statement)
	}

	/** When the primary was asked for the latest position that this replica has reached. */
	#freshAt(rows: Rows, at: number): Milliseconds {
		const { facts, position } = this.#parse(`read[${at}]`, rows)
		for (const [index, name] of Object.keys(this.#replication.same).entries()) {
			const [own, other] = [this.#facts?.[index], facts[index]]
			if (own !== undefined && String(own) !== String(other))
				throw new TypeError(
					`${this.#owner}: read[${at}] is not a replica of write: its ${name} is ${String(other)}, not ${String(own)}`,
				)
		}
		const reached = this.#marks.findLast((mark) => this.#replication.hasReached(position.at, mark.at))
		return reached?.time ?? Number.NEGATIVE_INFINITY
	}

	/** @param server names it in errors. @throws TypeError for a server that can't have replicas, or be one */
	#parse(server: string, { rows }: Rows): Reported {
		const [row = []] = rows
		const count = Object.keys(this.#replication.same).length
		try {
			return { facts: row.slice(0, count), position: this.#replication.read(row.slice(count)) }
		} catch (error) {
			if (!(error instanceof TypeError)) throw error
			throw new TypeError(`${this.#owner}: ${server}: ${error.message}`, { cause: error })
		}
	}
}

/** The replicas of a pool, and what they were opened with. */
interface Known {
	readonly pools: Pools<object>
	readonly replicas: Promise<SqlReplicas>
}

const REPLICAS: unique symbol = Symbol('verbena.replicas')

/**
 * Lets the models over the primary's driver use its replicas; all openings of a pool share one set.
 *
 * @throws TypeError if the pool has other replicas already, or one of these isn't a replica
 */
export async function openReplicas(
	owner: string,
	pools: Pools<object>,
	drivers: Drivers,
	replication: Replication,
): Promise<void> {
	const library = drivers.primary.constructor
	const wrong = drivers.replicas.findIndex(({ driver }) => driver.constructor !== library)
	if (wrong !== -1) throw new TypeError(`${owner}: write and read[${wrong}] must be of the same library`)
	const existing = attachment(pools.write, REPLICAS) as Known | undefined // attached below
	if (existing !== undefined && !isSame(existing.pools, pools))
		throw new TypeError(
			`${owner}: this pool was opened with another read or staleSeconds: use the same object`,
		)
	const begin = () => new SqlReplicas(owner, drivers, pools.staleSeconds, replication).begin()
	const known = existing ?? { pools, replicas: begin() }
	if (existing === undefined) attach(pools.write, REPLICAS, known)
	try {
		const replicas = await known.replicas
		replicas.add(drivers)
	} catch (error) {
		// Failures aren't kept: the next attempt may succeed.
		if (attachment(pools.write, REPLICAS) === known) attach(pools.write, REPLICAS, undefined)
		throw error
	}
}

function isSame(one: Pools<object>, other: Pools<object>): boolean {
	return (
		one.staleSeconds === other.staleSeconds &&
		one.read.length === other.read.length &&
		one.read.every((pool, at) => pool === other.read[at])
	)
}

/** Maximum size of `Writers`: about 8,000 callers. */
const MAX_BYTES: Bytes = 1_048_576
/** Approximate size of an entry besides its key. */
const ENTRY_BYTES: Bytes = 80

/** The time of each caller's last change, for the callers whose changes a replica may lack. */
class Writers {
	/** Oldest first. */
	readonly #latest = new Map<string, Milliseconds>()
	#bytes: Bytes = 0
	/** The latest change that was evicted for lack of room: it counts for every caller. */
	#forgotten: Milliseconds = Number.NEGATIVE_INFINITY

	/** @param before changes before this time needn't be known any more */
	note(caller: string, now: Milliseconds, before: Milliseconds): void {
		this.#delete(caller)
		this.#latest.set(caller, now)
		this.#bytes += sizeOf(caller)
		for (const [oldest, time] of this.#latest) {
			const isFull = this.#bytes > MAX_BYTES
			if (time >= before && !isFull) break
			this.#delete(oldest)
			if (isFull) this.#forgotten = Math.max(this.#forgotten, time)
		}
	}

	/** The time of the caller's last change, or of a later one that was evicted and may be the caller's. */
	latest(caller: string): Milliseconds {
		return Math.max(this.#forgotten, this.#latest.get(caller) ?? Number.NEGATIVE_INFINITY)
	}

	#delete(caller: string): void {
		if (this.#latest.delete(caller)) this.#bytes -= sizeOf(caller)
	}
}

function sizeOf(caller: string): Bytes {
	return ENTRY_BYTES + 2 * caller.length
}
