/** `askServer`: queries the server's version and the settings of its sessions, before a model is opened. */
import type { Bytes, Milliseconds } from '../../../base/time.ts'
import type { Driver, Statement } from '../../sql/driver.ts'

export interface Server {
	readonly isMariaDb: boolean
	/** Whether inserts and deletes support `returning`, as in MariaDB. */
	readonly returnsInserted: boolean
	readonly returnsDeleted: boolean
	/** Whether `information_schema` lists check constraints: not before MySQL 8.0.16. */
	readonly listsChecks: boolean
	/** The default database. */
	readonly schema: string | undefined
	/** Whether names of tables are case-insensitive. */
	readonly foldsNames: boolean
	/** The end of TIMESTAMP's range, exclusive, in UTC; it is later since MariaDB 11.5. */
	readonly timestampEnd: string
	/**
	 * The statement's text with a timeout, for reads with a sort length, and for changes with strict mode. They apply only to
	 * it and not to the session.
	 */
	readonly withSettings: (statement: Statement) => string
	readonly maxPacketBytes: Bytes
}

const FACTS = `select version(), @@session.sql_mode, @@session.character_set_client,
	@@session.character_set_connection, @@session.character_set_results, @@session.autocommit, database(), @@lower_case_table_names, @@session.max_allowed_packet,
	@@session.max_sort_length`

/**
 * Servers sort by the first `max_sort_length` bytes of a key, by default 1,024: a cursor, which compares whole texts, would
 * lose records. Enough for the longest text that is sorted by, 768 characters or 3,072 bytes, in any collation.
 * Fifteen such keys fit into MySQL's `sort_buffer_size`, which both require.
 */
const SORT_BYTES: Bytes = 16_384

/** A server has only one of these: MariaDB's is in seconds, MySQL's in milliseconds; 0 means no timeout. */
const TIMEOUTS = `show session variables where variable_name in ('max_statement_time', 'max_execution_time')`

/**
 * @param timeout the longest that a statement may take in the server
 * @throws TypeError if the sessions have unsuitable settings
 */
export async function askServer(driver: Driver, timeout: Milliseconds): Promise<Server> {
	const { rows } = await driver.query({ text: FACTS, values: [], writes: false })
	const facts = (rows[0] ?? []).map(textOf)
	const [version = '', mode = '', client = '', connection = '', results = '', ...others] = facts
	const [autocommit, schema, folds, packet, sorted] = others
	// Values are converted to the connection's character set, where other characters become '?'.
	const charset = [client, connection, results].find((name) => name !== 'utf8mb4')
	if (charset !== undefined) {
		throw new TypeError(
			`the sessions use the character set ${charset}, which can't hold every text: create the pool with { charset: 'utf8mb4' }, and let no init_connect or statement set another`,
		)
	}
	if (Number(autocommit) !== 1) {
		throw new TypeError('the sessions have autocommit off, so nothing would ever be committed: leave it on')
	}
	const isMariaDb = /mariadb/i.test(version)
	const timeouts = (await driver.query({ text: TIMEOUTS, values: [], writes: false })).rows
	const current = Number(timeouts[0]?.[1] ?? 0) * (isMariaDb ? 1_000 : 1)
	const needed = current > 0 && current <= timeout ? undefined : Math.max(1, Math.floor(timeout))
	const strict = strictMode(mode)
	const sortBytes = Number(sorted) < SORT_BYTES ? SORT_BYTES : undefined
	const number = numberOf(version)
	return {
		isMariaDb,
		returnsInserted: isMariaDb && number >= 10_05_00,
		returnsDeleted: isMariaDb,
		listsChecks: isMariaDb || number >= 8_00_16,
		schema: schema === '' ? undefined : schema,
		foldsNames: folds !== '0',
		timestampEnd: isMariaDb && number >= 11_05_00 ? '2106-02-07 06:28:16' : '2038-01-19 03:14:08',
		maxPacketBytes: Number(packet),
		withSettings: (isMariaDb ? mariaDbSettings : mysqlSettings)(strict, needed, sortBytes),
	}
}

function textOf(value: unknown): string {
	return value === null || value === undefined ? '' : String(value)
}

/** `8.0.36` as 80036. MariaDB may put `5.5.5-` in front, for old clients. */
function numberOf(version: string): number {
	const [, major = 0, minor = 0, patch = 0] = /^(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []
	return Number(major) * 10_000 + Number(minor) * 100 + Number(patch)
}

/** The `sql_mode` for changes; `undefined` if it is strict already: otherwise values are silently truncated. */
function strictMode(mode: string): string | undefined {
	const modes = mode.split(',').filter((name) => name !== '')
	if (modes.includes('STRICT_ALL_TABLES') || modes.includes('STRICT_TRANS_TABLES')) return undefined
	return `'${[...modes, 'STRICT_ALL_TABLES'].join(',')}'`
}

/**
 * @param timeout `undefined` if the sessions already have a timeout that is short enough
 * @param sortBytes `undefined` if the sessions already sort by enough bytes
 */
function mariaDbSettings(
	strict: string | undefined,
	timeout: Milliseconds | undefined,
	sortBytes: Bytes | undefined,
): Server['withSettings'] {
	const settings = timeout === undefined ? [] : [`max_statement_time=${timeout / 1_000}`]
	const read = setStatement(
		sortBytes === undefined ? settings : [...settings, `max_sort_length=${sortBytes}`],
	)
	const change = setStatement(strict === undefined ? settings : [...settings, `sql_mode=${strict}`])
	return ({ text }) => (isChange(text) ? change : read) + text
}

function setStatement(settings: readonly string[]): string {
	return settings.length === 0 ? '' : `set statement ${settings.join(',')} for `
}

/** Inserts optimizer hints after the first word. MySQL has no timeout for changes. */
function mysqlSettings(
	strict: string | undefined,
	timeout: Milliseconds | undefined,
	sortBytes: Bytes | undefined,
): Server['withSettings'] {
	const change = strict === undefined ? undefined : `/*+ SET_VAR(sql_mode=${strict}) */`
	const hints = [
		...(timeout === undefined ? [] : [`MAX_EXECUTION_TIME(${timeout})`]),
		...(sortBytes === undefined ? [] : [`SET_VAR(max_sort_length=${sortBytes})`]),
	]
	const read = hints.length === 0 ? undefined : `/*+ ${hints.join(' ')} */`
	return ({ text }) => {
		const hint = isChange(text) ? change : text.startsWith('select ') ? read : undefined
		return hint === undefined ? text : text.replace(' ', ` ${hint} `)
	}
}

function isChange(text: string): boolean {
	return /^(insert|update|delete) /.test(text)
}
