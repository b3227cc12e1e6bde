/**
 * The position of a server of MariaDB or MySQL: its global transaction ids, which any user may read. Loaded by `model.ts` if
 * there are replicas.
 */
import type { Replication } from '../../sql/replicas/replica.ts'
import { isLost, isReadOnly, isUnsent, kindOf, numberOf } from '../errors.ts'

const SAME = {
	database: 'database()',
	character_set_client: '@@session.character_set_client',
	character_set_results: '@@session.character_set_results',
	autocommit: '@@session.autocommit',
} as const

/** A timeout of the server; cancelled. */
const TIMEOUTS: ReadonlySet<number> = new Set([1969, 3024, 1317])

/** @param isMariaDb whether the server is MariaDB */
export function replicationOf(isMariaDb: boolean): Replication {
	return isMariaDb ? MARIADB : MYSQL
}

function consequenceOf(error: unknown): 'down' | 'again' | undefined {
	const number = numberOf(error)
	if (number !== undefined && TIMEOUTS.has(number)) return undefined
	// A function that writes; a Galera node without a majority.
	if (isReadOnly(error)) return number === 1047 ? 'down' : 'again'
	if (isUnsent(error) || isLost(error)) return 'down'
	const kind = kindOf(error)
	if (kind === 'unavailable') return 'down'
	// A column that isn't there yet, for example.
	return kind === 'busy' || kind === undefined ? 'again' : undefined
}

/** The latest transaction of each domain. */
type Domains = ReadonlyMap<string, { readonly server: string; readonly sequence: bigint }>

/** The transactions that a server of MariaDB has. */
interface MariaDbPosition {
	readonly server: string
	/** Those in its binary log. */
	readonly own: Domains
	/** Those that it has replicated from its primary. */
	readonly replicated: Domains
}

const MARIADB: Replication<MariaDbPosition> = {
	same: SAME,
	position: [
		...['@@global.read_only', '@@global.log_bin', '@@global.server_id'],
		...['@@global.gtid_binlog_pos', '@@global.gtid_slave_pos'],
	],
	read([readOnly, logs, server, own, replicated]) {
		const isPrimary = Number(readOnly) === 0
		if (isPrimary && Number(logs) === 0 && replicated === '')
			throw new TypeError('it writes no binary log (log_bin), so it has no replicas')
		const at = { server: String(server), own: domainsOf(own), replicated: domainsOf(replicated) }
		return { isPrimary, at }
	},
	hasReached: (server, primary) =>
		[...primary.own].every(([domain, last]) => {
			const sequence = server.replicated.get(domain)?.sequence
			if (sequence !== undefined && sequence >= last.sequence) return true
			// The server may be the primary itself. Other transactions in its own log don't come from the primary.
			const own = last.server === server.server ? server.own.get(domain) : undefined
			return own !== undefined && own.sequence >= last.sequence
		}),
	consequenceOf,
}

/** Parses a list such as `0-1-270,1-2-15`: domain, server and number. */
function domainsOf(list: unknown): Domains {
	const ids = String(list ?? '').split(',')
	return new Map(
		ids.flatMap((id) => {
			const [domain = '', server = '', sequence] = id.trim().split('-')
			return sequence === undefined ? [] : [[domain, { server, sequence: BigInt(sequence) }] as const]
		}),
	)
}

/** Ranges of transactions, without gaps or overlaps, by the server that has made them. */
type Ranges = ReadonlyMap<string, readonly (readonly [from: bigint, to: bigint])[]>

const MYSQL: Replication<Ranges> = {
	same: SAME,
	position: ['@@global.read_only', '@@global.gtid_mode', '@@global.gtid_executed'],
	read([readOnly, mode, executed]) {
		if (mode !== 'ON') throw new TypeError(`its gtid_mode is ${String(mode)}: with replicas it must be ON`)
		return { isPrimary: Number(readOnly) === 0, at: rangesOf(executed) }
	},
	hasReached: (server, primary) =>
		[...primary].every(([source, ranges]) => {
			const own = server.get(source) ?? []
			return ranges.every(([from, to]) => own.some((range) => range[0] <= from && to <= range[1]))
		}),
	consequenceOf,
}

/** Parses a set such as `3e11fa47-…:1-5:8,\n4c1e…:1:tag:1-3`; a tag's ranges are those of a source of their own. */
function rangesOf(set: unknown): Ranges {
	const ranges = new Map<string, [bigint, bigint][]>()
	for (const one of String(set ?? '').split(',')) {
		const [source = '', ...parts] = one.trim().split(':')
		let name = source
		for (const part of parts) {
			const [, from, to = from] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? []
			if (from === undefined || to === undefined) name = `${source}:${part}`
			else ranges.set(name, [...(ranges.get(name) ?? []), [BigInt(from), BigInt(to)]])
		}
	}
	return ranges
}
