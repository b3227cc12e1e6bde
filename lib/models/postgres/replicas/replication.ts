/**
 * The position of a server of PostgreSQL in its write-ahead log, which any user may read. A replica that streams from the
 * primary has the same positions. Loaded by `model.ts` if there are replicas.
 */
import type { Position, Replication } from '../../sql/replicas/replication.ts'
import { codeOf, isReadOnly, kindOf, READ_TIMEOUT } from '../errors.ts'

export const REPLICATION: Replication<bigint> = {
	same: {
		'system identifier': '(select system_identifier from pg_control_system())::text',
		database: 'current_database()::text',
		extra_float_digits: `current_setting('extra_float_digits')`,
	},
	position: [
		'pg_is_in_recovery()::text',
		`(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end - '0/0'::pg_lsn)::text`,
	],
	read([isReplica, at]): Position<bigint> {
		if (typeof at !== 'string') throw new Error('the server has not replayed anything yet')
		return { isPrimary: isReplica === 'false', at: BigInt(at) }
	},
	hasReached: (server, primary) => server >= primary,
	consequenceOf(error) {
		if (!(error instanceof Error) || error.message === READ_TIMEOUT) return undefined
		// A function that writes.
		if (isReadOnly(error)) return 'again'
		// A timeout, a page of a gigabyte, out of memory, or over the limit of temporary files.
		if (['57014', '54000', '53200', '53400'].includes(codeOf(error) ?? '')) return undefined
		const kind = kindOf(error)
		if (kind === 'unavailable' || kind === 'outcome_unknown') return 'down'
		// A conflict with what is being replayed; a column that isn't there yet.
		return kind === 'busy' || kind === undefined ? 'again' : undefined
	},
}
