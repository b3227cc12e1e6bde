/** `askServer`: what must be known of the server and of the user's sessions before a model can be opened. */
import type { Bytes, Milliseconds } from '../../../base/time.ts'
import type { Driver, Statement } from '../../sql/driver.ts'

export interface Server {
	readonly isMariaDb: boolean
	/** Whether inserts, and deletes, can answer the record by `returning`: MariaDB's can. */
	readonly returnsInserted: boolean
	readonly returnsDeleted: boolean
	/** Whether the check constraints can be asked for: not before MySQL 8.0.16. */
	readonly tellsChecks: boolean
	/** The database that is used where none is named. */
	readonly schema: string | undefined
	/** Whether names of tables are compared without case. */
	readonly foldsNames: boolean
	/** The first second that is too late for TIMESTAMP, in UTC: MariaDB has more of them from 11.5 on. */
	readonly untilSecond: string
	/**
	 * A statement with what holds for it alone: a change is strict, and whatever takes too long is ended by the server.
	 * The session's settings stay the user's own.
	 */
	readonly withSettings: (statement: Statement) => string
	/** `max_allowed_packet`. */
	readonly largest: Bytes
}

const FACTS = `select version(), @@session.sql_mode, @@session.character_set_client,
	@@session.character_set_results, @@session.autocommit, database(), @@lower_case_table_names, @@session.max_allowed_packet`

/** One of the two is there: MariaDB's is in seconds, MySQL's in milliseconds. 0 is no bound. */
const BOUNDS = `show session variables where variable_name in ('max_statement_time', 'max_execution_time')`

/**
 * @param longest how long the server may work on a statement
 * @throws TypeError for sessions that can't be used as they are
 */
export async function askServer(driver: Driver, longest: Milliseconds): Promise<Server> {
	const { rows } = await driver.query({ text: FACTS, values: [], writes: false })
	const facts = (rows[0] ?? []).map(textOf)
	const [version = '', mode = '', client = '', results = '', autocommit, schema, folds, packet] = facts
	mustBeUtf8(client, results)
	if (Number(autocommit) !== 1) {
		throw new TypeError('the sessions have autocommit off, so that nothing would ever be stored: leave it on')
	}
	const isMariaDb = /mariadb/i.test(version)
	const bounds = (await driver.query({ text: BOUNDS, values: [], writes: false })).rows
	const own = Number(bounds[0]?.[1] ?? 0) * (isMariaDb ? 1_000 : 1)
	const bound = own > 0 && own <= longest ? undefined : Math.max(1, Math.floor(longest))
	const number = numberOf(version)
	return {
		isMariaDb,
		returnsInserted: isMariaDb && number >= 10_05_00,
		returnsDeleted: isMariaDb,
		tellsChecks: isMariaDb || number >= 8_00_16,
		schema: schema === '' ? undefined : schema,
		foldsNames: folds !== '0',
		untilSecond: isMariaDb && number >= 11_05_00 ? '2106-02-07 06:28:16' : '2038-01-19 03:14:08',
		largest: Number(packet),
		withSettings: isMariaDb
			? mariaDbSettings(strictMode(mode), bound)
			: mysqlSettings(strictMode(mode), bound),
	}
}

function textOf(value: unknown): string {
	return value === null || value === undefined ? '' : String(value)
}

/** `8.0.36` as 80036; MariaDB hides behind `5.5.5-` from clients that are old. */
function numberOf(version: string): number {
	const [, major = 0, minor = 0, patch = 0] = /^(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []
	return Number(major) * 10_000 + Number(minor) * 100 + Number(patch)
}

function mustBeUtf8(client: string, results: string): void {
	for (const charset of [client, results]) {
		if (charset === 'utf8mb4') continue
		throw new TypeError(
			`the sessions use the character set ${charset}, which can't hold every text: create the pool with { charset: 'utf8mb4' }`,
		)
	}
}

/**
 * The mode in which a change is strict; `undefined` where the sessions are strict as they are. A session that isn't
 * cuts what is too long or out of range, and says nothing.
 */
function strictMode(mode: string): string | undefined {
	const modes = mode.split(',').filter((name) => name !== '')
	if (modes.includes('STRICT_ALL_TABLES') || modes.includes('STRICT_TRANS_TABLES')) return undefined
	return `'${[...modes, 'STRICT_ALL_TABLES'].join(',')}'`
}

/** @param bound `undefined` where the sessions have a shorter one of their own */
function mariaDbSettings(
	strict: string | undefined,
	bound: Milliseconds | undefined,
): Server['withSettings'] {
	const time = bound === undefined ? [] : [`max_statement_time=${bound / 1_000}`]
	const read = setStatement(time)
	const change = setStatement(strict === undefined ? time : [...time, `sql_mode=${strict}`])
	return ({ text }) => (isChange(text) ? change : read) + text
}

function setStatement(settings: readonly string[]): string {
	return settings.length === 0 ? '' : `set statement ${settings.join(',')} for `
}

/** By hints behind the first word. MySQL has no bound for changes. */
function mysqlSettings(strict: string | undefined, bound: Milliseconds | undefined): Server['withSettings'] {
	const change = strict === undefined ? undefined : `/*+ SET_VAR(sql_mode=${strict}) */`
	const read = bound === undefined ? undefined : `/*+ MAX_EXECUTION_TIME(${bound}) */`
	return ({ text }) => {
		const hint = isChange(text) ? change : text.startsWith('select ') ? read : undefined
		return hint === undefined ? text : text.replace(' ', ` ${hint} `)
	}
}

function isChange(text: string): boolean {
	return /^(insert|update|delete) /.test(text)
}
