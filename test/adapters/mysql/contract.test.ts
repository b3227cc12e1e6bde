/** The contract of models, on MariaDB; in sessions of other settings those of its cases that could differ. */
import type { Pool } from 'mysql2/promise'
import { connectionsOf } from '../../../lib/adapters/mysql/connections.ts'
import { mysqlDialect } from '../../../lib/adapters/mysql/dialect.ts'
import { MysqlDriver } from '../../../lib/adapters/mysql/driver.ts'
import { introspect } from '../../../lib/adapters/mysql/introspect.ts'
import { askServer } from '../../../lib/adapters/mysql/server.ts'
import { MysqlModel } from '../../../lib/adapters/mysql.ts'
import { SqlModel } from '../../../lib/sql/sql-model.ts'
import { modelContract } from '../../../lib/testing/model-contract.ts'
import { describe } from '../../helpers/describe.ts'
import { mariadbIsHere, openPool, type Settings } from '../../helpers/mariadb.ts'

const TABLES = [
	`create table TABLE (
		id integer primary key auto_increment,
		title mediumtext not null,
		note text,
		\`order\` integer,
		big bigint,
		ratio double,
		price decimal(20, 4),
		done boolean,
		day date,
		clock time,
		at datetime(6),
		token uuid,
		extra json,
		data blob,
		status varchar(100) not null default 'draft',
		email varchar(200) unique,
		version integer not null default 1,
		parent integer references TABLE (id)
	)`,
	'create table TABLE_text (id varchar(200) primary key, title text not null)',
	'create table TABLE_uuid (id uuid primary key default uuid(), title text not null)',
	'create table TABLE_bigint (id bigint primary key auto_increment, title text not null)',
]

const SUFFIXES = ['', '_text', '_uuid', '_bigint']

interface Setting {
	readonly name: string
	readonly settings: Settings
	/** Without `returning`, as on MySQL 8. */
	readonly isMute?: boolean
	/** The cases that the setting can make a difference to; all by default. */
	readonly only?: RegExp
}

/** What time zones, quotes, escapes and strictness could change: values on their way, and what is refused. */
const ONLY =
	/keeps|compared|takes every character|never more than a text|is cut|is refused|pages by (at|timestamps)|^update|^create|come back together|a text (key|may)/

const SETTINGS: readonly Setting[] = [
	{ name: 'as the server is set', settings: {} },
	{
		name: 'with another time zone, ANSI and no escapes',
		settings: {
			time_zone: '+05:30',
			sql_mode: 'ANSI,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE',
		},
		only: ONLY,
	},
	{ name: 'that are not strict', settings: { time_zone: '-11:00', sql_mode: '' }, only: ONLY },
	{ name: 'without returning, as on MySQL 8', settings: {}, isMute: true },
]

function contractWith({ name, settings, isMute = false, only = /^/ }: Setting, at: number): void {
	describe(`the contract of models on MariaDB, sessions ${name}`, (test) => {
		const table = `myad_contract_${at}`
		let pool: Pool
		const make = (suffix: string) => async () => {
			// Rows that refer to their own table can't be truncated, and counting goes on where it was.
			await pool.query(`set statement foreign_key_checks = 0 for delete from ${table}${suffix}`)
			return isMute ? mute(pool, `${table}${suffix}`) : MysqlModel.open(pool, `${table}${suffix}`)
		}
		const counted = { text: make('_text'), bigint: make('_bigint') }
		// A key that a default makes isn't told without `returning`, and has to be given.
		const keys = isMute ? counted : { ...counted, uuid: make('_uuid') }
		const drop = async () => {
			for (const suffix of SUFFIXES) await pool.query(`drop table if exists ${table}${suffix}`)
		}

		test.before(async () => {
			pool = openPool(settings)
			await drop()
			for (const text of TABLES) await pool.query(text.replaceAll('TABLE', table))
		})
		test.after(async () => {
			await drop()
			await pool.end()
		})
		for (const { name: promise, run } of modelContract({ make: make(''), keys, skip: ['infinity', 'nan'] })) {
			if (only.test(promise)) test(promise, run)
		}
	})
}

async function mute(pool: Pool, name: string): Promise<SqlModel> {
	const driver = new MysqlDriver(connectionsOf(pool), 5)
	const server = { ...(await askServer(driver)), returnsInserted: false, returnsDeleted: false }
	const table = await introspect(
		driver,
		server,
		{ schema: undefined, name },
		{ key: undefined, bigintAsText: false },
	)
	return new SqlModel(table, driver, mysqlDialect(server, table))
}

if (await mariadbIsHere()) SETTINGS.forEach(contractWith)
