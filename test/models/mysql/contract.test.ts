/** The contract of models, on MariaDB: as it is, as if it were MySQL 8, and the cases that other settings of sessions could change. */
import type { Pool } from 'mysql2/promise'
import type { Model } from '../../../lib/models/model.ts'
import { dialectOf } from '../../../lib/models/mysql/dialect.ts'
import { MysqlDriver } from '../../../lib/models/mysql/driver.ts'
import { introspect } from '../../../lib/models/mysql/introspect.ts'
import { MysqlModel } from '../../../lib/models/mysql/model.ts'
import { connectionsOf } from '../../../lib/models/mysql/mysql2/connections.ts'
import { askServer } from '../../../lib/models/mysql/mysql2/server.ts'
import { SqlModel } from '../../../lib/models/sql/sql-model.ts'
import { lruOf } from '../../../lib/models/sql/text-cache.ts'
import type { Case } from '../../../lib/testing/case.ts'
import { modelContract } from '../../../lib/testing/model-contract.ts'
import { describe } from '../../helpers/describe.ts'
import { IS_MYSQL, mariadbIsHere, openPool, type Settings } from '../../helpers/mariadb.ts'
import { suitesBy } from '../../helpers/suites-by.ts'

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
	`create table TABLE_several (id int not null, title text not null, tag varchar(200) not null, day date not null,
		primary key (day, tag, id))`,
	'create table TABLE_bigint (id bigint primary key auto_increment, title text not null)',
	'create table TABLE_place (country varchar(9), region varchar(9), note text, primary key (country, region))',
	`create table TABLE_person (id int primary key, name text, boss int references TABLE_person (id), country varchar(9),
		region varchar(9), foreign key (country, region) references TABLE_place (country, region))`,
	`create table TABLE_post (id int primary key, title text not null, n int, author int references TABLE_person (id),
		editor int references TABLE_person (id))`,
	'create table TABLE_tag (id int primary key, word text)',
	`create table TABLE_tie (post int references TABLE_post (id), tag int references TABLE_tag (id),
		primary key (post, tag))`,
]

/** Seconds: a thousand concurrent requests are answered, however long a machine stalls. */
const PATIENCE = 60

/** The tables that refer to each other, those first that no other refers to. */
const RELATED = ['tie', 'tag', 'post', 'person', 'place'] as const

const SUFFIXES = ['', ...['text', 'uuid', 'bigint', 'several', ...RELATED].map((suffix) => `_${suffix}`)]

/** How sessions are set. */
interface Setting {
	readonly name: string
	/** Suffix of its table, to separate it from others of this process. */
	readonly table: string
	readonly settings: Settings
	/** Without `returning`, as on MySQL 8. */
	readonly isMute?: boolean
	/** The cases that the setting can affect; all by default. */
	readonly only?: readonly RegExp[]
}

/** Cases that time zones, quotes, escapes and strictness could affect: values and refusals. */
const ONLY = [
	/keeps/,
	/compared/,
	/takes every character/,
	/never interpreted/,
	/is cut/,
	/is refused/,
	/pages by (at|timestamps)/,
	/^update/,
	/^create/,
	/come back together/,
	/a text (key|may)/,
]

const SETTINGS: readonly Setting[] = [
	{ name: 'as the server is set', table: 'myad_contract_0', settings: {} },
	{ name: 'without returning, as on MySQL 8', table: 'myad_contract_1', settings: {}, isMute: true },
	{
		name: 'with another time zone, ANSI and no escapes',
		table: 'myad_contract_2',
		settings: {
			time_zone: '+05:30',
			sql_mode: 'ANSI,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE',
		},
		only: ONLY,
	},
	{
		name: 'that are not strict',
		table: 'myad_contract_3',
		settings: { time_zone: '-11:00', sql_mode: '' },
		only: ONLY,
	},
]

/** Suites with the contract's cases. */
function contractWith({ name, table, settings, isMute = false, only = [/^/] }: Setting): void {
	describe(`the contract of models on MariaDB, sessions ${name}`, (test) => {
		let pool: Pool
		const make = (suffix: string) => {
			let model: Promise<Model> | undefined
			return async () => {
				// A table with references to itself can't be truncated, and its auto-increment goes on.
				await pool.query(`set statement foreign_key_checks = 0 for delete from ${table}${suffix}`)
				model ??= isMute
					? mute(pool, `${table}${suffix}`)
					: MysqlModel.open(pool, `${table}${suffix}`, { timeoutSeconds: PATIENCE })
				return model
			}
		}
		const counted = { text: make('_text'), bigint: make('_bigint'), several: make('_several') }
		// A key made by a default isn't returned without `returning`, and has to be given.
		const keys = isMute || IS_MYSQL ? counted : { ...counted, uuid: make('_uuid') }
		const makeRelated = Object.fromEntries(RELATED.map((suffix) => [suffix, make(`_${suffix}`)]))
		const relations = async () => {
			const models = new Map<string, Model>()
			for (const [suffix, make] of Object.entries(makeRelated)) models.set(suffix, await make())
			return Object.fromEntries(models) as Record<(typeof RELATED)[number], Model>
		}
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
		const cases = modelContract({ make: make(''), keys, relations, skip: ['infinity', 'nan'] })
		// MySQL has no UUIDs: `token` is a text there.
		for (const { name: promise, run } of selectCases(cases, only))
			if (!(IS_MYSQL && promise.startsWith('the fields are those of the table'))) test(promise, run)
	})
}

async function mute(pool: Pool, name: string): Promise<SqlModel> {
	const driver = new MysqlDriver(connectionsOf(pool), PATIENCE)
	const server = { ...(await askServer(driver, 60_000)), returnsInserted: false, returnsDeleted: false }
	const table = await introspect(
		driver,
		server,
		{ schema: undefined, name },
		{ key: undefined, bigint: 'number' },
	)
	return new SqlModel(table, driver, dialectOf(server, table, lruOf(pool)), PATIENCE)
}

/** The cases that match one of `patterns`. @throws Error for a pattern that matches no case: it was renamed */
function selectCases(cases: readonly Case[], patterns: readonly RegExp[]): Case[] {
	for (const pattern of patterns) {
		if (!cases.some(({ name }) => pattern.test(name)))
			throw new Error(`no case of the contract matches ${pattern}`)
	}
	return cases.filter(({ name }) => patterns.some((pattern) => pattern.test(name)))
}

if (await mariadbIsHere()) suitesBy(SETTINGS).forEach(contractWith)
