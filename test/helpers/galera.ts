/** A test's own cluster of three nodes of Galera (MariaDB), each in a network namespace where that is possible. */
import { existsSync } from 'node:fs'
import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import { until } from './listening.ts'
import { HERE, hasMachines, type Machine, machines } from './machines.ts'
import { type OwnMariadb, ownMariadb } from './mariadb.ts'
import { freePorts } from './program.ts'

/** The library is in Debian's package galera-4. A new node copies another's data by rsync. */
const NEEDED = ['/usr/lib/galera/libgalera_smm.so', '/usr/bin/rsync'] as const

/** An isolated node loses quorum after two to four seconds, and may rejoin after one. */
const TIMES =
	'evs.keepalive_period=PT0.5S;evs.inactive_check_period=PT0.5S;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT4S;gmcast.time_wait=PT1S;gmcast.peer_timeout=PT1S'

/** Whether a cluster can be started; otherwise a message is printed, and with `CI=true` it is a failure. */
export function galeraIsHere(): boolean {
	const missing = NEEDED.filter((file) => !existsSync(file))
	if (missing.length === 0) return true
	if (process.env.CI === 'true') throw new Error(`there is no ${missing.join(', no ')}`)
	console.error(`SKIPPED: there is no ${missing.join(', no ')}`)
	return false
}

export interface GaleraNode {
	readonly port: number
	/** `undefined` where there can be no network namespaces. */
	readonly machine: Machine | undefined
	/** mysql2's connection options. */
	readonly options: OwnMariadb['options']
	/** A connection opened while the node was ready. */
	readonly admin: Connection
	/** Whether it accepts statements: it has quorum and is in sync. */
	isReady(): Promise<boolean>
	/** Isolates it from the other nodes, or lets it rejoin; resolves when it has noticed. */
	isolate(isIsolated: boolean): Promise<void>
}

/** Starts three nodes, and waits until they are ready. */
export async function ownCluster(): Promise<{
	nodes: readonly [GaleraNode, GaleraNode, GaleraNode]
	remove(): Promise<void>
}> {
	const network = hasMachines ? await machines(3) : undefined
	const hosts = [0, 1, 2].map((number) => network?.all[number] ?? HERE)
	const ports = await freePorts(9)
	const servers: OwnMariadb[] = []
	const admins: Connection[] = []
	const remove = async () => {
		for (const admin of admins) admin.destroy()
		await Promise.all(servers.map((server) => server.remove()))
		await network?.remove()
	}
	const join = async (number: number): Promise<GaleraNode> => {
		const [group = 0, increments = 0, snapshot = 0] = ports.slice(3 * number)
		const host = hosts[number] ?? HERE
		const { address } = host
		const options = [
			'--wsrep-on=ON',
			`--wsrep-provider=${NEEDED[0]}`,
			...(number === 0 ? ['--wsrep-new-cluster'] : []),
			`--wsrep-cluster-address=gcomm://${number === 0 ? '' : `${hosts[0]?.address}:${ports[0]}`}`,
			`--wsrep-node-address=${address}:${group}`,
			'--wsrep-sst-method=rsync',
			`--wsrep-sst-receive-address=${address}:${snapshot}`,
			`--wsrep-provider-options=gmcast.listen_addr=tcp://${address}:${group};ist.recv_addr=${address}:${increments};gcache.size=16M;${TIMES}`,
			'--binlog-format=ROW',
			'--default-storage-engine=InnoDB',
			'--innodb-autoinc-lock-mode=2',
		]
		const server = await ownMariadb(options, host)
		servers.push(server)
		const admin = await mysql.createConnection(server.options)
		admins.push(admin)
		const node = nodeOf(server, admin, network?.all[number])
		await until(() => node.isReady(), `node ${number}`, 60_000)
		return node
	}
	const others: Promise<GaleraNode>[] = []
	try {
		const first = await join(0)
		others.push(join(1), join(2))
		const [second, third] = await Promise.all(others)
		if (second === undefined || third === undefined) throw new Error('three nodes were to be made')
		return { nodes: [first, second, third], remove }
	} catch (error) {
		await Promise.allSettled(others)
		await remove()
		throw error
	}
}

function nodeOf({ port, options }: OwnMariadb, admin: Connection, machine: Machine | undefined): GaleraNode {
	const isReady = async () => {
		const [[row]] = await admin.query<RowDataPacket[]>("show status like 'wsrep_ready'")
		return row?.Value === 'ON'
	}
	return {
		...{ port, machine, options, admin, isReady },
		isolate: async (isIsolated) => {
			await admin.query(`set global wsrep_provider_options = 'gmcast.isolate=${isIsolated ? 1 : 0}'`)
			await until(
				async () => (await isReady()) !== isIsolated,
				isIsolated ? 'the loss of the majority' : 'the return to the majority',
				60_000,
			)
		},
	}
}
