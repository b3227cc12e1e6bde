/** `askServer`: what must be known of the server and of the user's sessions before a model can be opened. */
import type { Driver } from '../../sql/driver.ts'

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
	/** Makes a change strict; `undefined` where the sessions are strict as they are. */
	readonly strict: ((text: string) => string) | undefined
}

const FACTS = `select version(), @@session.sql_mode, @@session.character_set_client,
	@@session.character_set_results, @@session.autocommit, database(), @@lower_case_table_names`

/** @throws TypeError for sessions that can't be used as they are */
export async function askServer(driver: Driver): Promise<Server> {
	const { rows } = await driver.query({ text: FACTS, values: [], writes: false })
	const facts = (rows[0] ?? []).map(textOf)
	const [version = '', mode = '', client = '', results = '', autocommit, schema, folds] = facts
	mustBeUtf8(client, results)
	if (Number(autocommit) !== 1) {
		throw new TypeError('the sessions have autocommit off, so that nothing would ever be stored: leave it on')
	}
	const isMariaDb = /mariadb/i.test(version)
	const number = numberOf(version)
	return {
		isMariaDb,
		returnsInserted: isMariaDb && number >= 10_05_00,
		returnsDeleted: isMariaDb,
		tellsChecks: isMariaDb || number >= 8_00_16,
		schema: schema === '' ? undefined : schema,
		foldsNames: folds !== '0',
		untilSecond: isMariaDb && number >= 11_05_00 ? '2106-02-07 06:28:16' : '2038-01-19 03:14:08',
		strict: strictly(isMariaDb, mode),
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
 * A session that isn't strict cuts what is too long or out of range, and says nothing. A single statement can
 * be made strict; MySQL does it by a hint behind its first word.
 */
function strictly(isMariaDb: boolean, mode: string): ((text: string) => string) | undefined {
	const modes = mode.split(',').filter((name) => name !== '')
	if (modes.includes('STRICT_ALL_TABLES') || modes.includes('STRICT_TRANS_TABLES')) return undefined
	const strict = `'${[...modes, 'STRICT_ALL_TABLES'].join(',')}'`
	if (isMariaDb) return (text) => (isChange(text) ? `set statement sql_mode=${strict} for ${text}` : text)
	const hint = ` /*+ SET_VAR(sql_mode=${strict}) */ `
	return (text) => (isChange(text) ? text.replace(' ', hint) : text)
}

function isChange(text: string): boolean {
	return /^(insert|update|delete) /.test(text)
}
