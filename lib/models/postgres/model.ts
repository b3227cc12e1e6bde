/**
 * `PostgresModel`: a table or view of PostgreSQL as a `Model`, over the user's own pg `Pool`, postgres.js `sql` or PGlite.
 * Opening it reads columns, types, key and constraints from the database.
 */

import type { Bytes } from '../../base/time.ts'
import type { Model } from '../model.ts'
import { type DatabaseSession, readSession, sessionKey } from '../session.ts'
import { keyOf, primaryKey, withKey } from '../sql/key.ts'
import {
	type BrokenView,
	type DatabaseOptions,
	type OpenAllOptions,
	type OpeningOptions,
	openingOptions,
	type TableOptions,
} from '../sql/options.ts'
import type { Position, Replication } from '../sql/replicas/replica.ts'
import { openReplicas } from '../sql/replicas/replicas.ts'
import { type Replicated, readPools } from '../sql/replicas/replicated.ts'
import type { SessionSetup } from '../sql/runner.ts'
import { RUNNER } from '../sql/shared-transaction.ts'
import { SqlModel } from '../sql/sql-model.ts'
import { LIVE } from '../sql/subject.ts'
import { columnOf, columnsOf, type Table } from '../sql/table.ts'
import { Lru, LruMap, lruOf } from '../sql/text-cache.ts'
import { type Relation, type Relations, readCatalog, readRelations } from './catalog/read-catalog.ts'
import { dialectOf } from './dialect.ts'
import { type Connected, driverOf, type PostgresDatabase } from './driver.ts'
import { codeOf, isReadOnly, kindOf, READ_TIMEOUT } from './errors.ts'
import { introspect, relationCalled } from './introspect.ts'

export type { Replica, ReplicaState, Replicas } from '../replicas.ts'
export type { DatabaseSession } from '../session.ts'
export type { Replicated } from '../sql/replicas/replicated.ts'
export type { PostgresDatabase } from './driver.ts'

/** Options of all tables. */
export type PostgresOptions = DatabaseOptions
/** Options of one table. */
export type PostgresTableOptions = TableOptions

/** Options for all tables of a schema. */
export interface PostgresSchemaOptions extends OpenAllOptions {
	/** @default the connection's current schema */
	readonly schema?: string
}

/**
 * A table or view of PostgreSQL as a model:
 *
 *     const article = await PostgresModel.open(pool, 'article')
 *     createServer({ article: new CrudHandler(article, { visible: 'all' }) })
 *
 * When the server stops, a pg Pool emits `error` for idle connections, which ends the process if nobody listens. So if
 * the pool has no listener, an empty one is added.
 */
export class PostgresModel extends SqlModel {
	/** One model for equal sessions, so that their reads are batched together, and with no others; those used last. */
	#sessions: LruMap<string, SqlModel> | undefined

	/**
	 * Opens a table or view, named `article`, `schema.article`, or quoted as in SQL. Views need `key`. With replicas,
	 * `{ write: pool, read: [replica] }`, a `CrudHandler` reads from those: see `Replicated`.
	 *
	 * @throws TypeError for a table that doesn't exist or has no key, a wrong option, and what isn't a replica
	 * @throws RangeError for a `timeoutSeconds` out of range
	 */
	static async open(
		database: PostgresDatabase | Replicated<PostgresDatabase>,
		name: string,
		options: PostgresTableOptions = {},
	): Promise<PostgresModel> {
		const opening = await open(database, openingOptions('PostgresModel', options, ['key']))
		const relation = relationCalled(name, opening.relations.relations)
		const catalog = await readCatalog(opening.driver, [relation])
		const found = introspect(relation, catalog, opening.bigint)
		return modelOf(withKey(found, keyOf(found, opening.key)), opening)
	}

	/**
	 * Opens all tables of a schema, with `views: true` its views and materialized views too; returns the models by name. The
	 * records of a view, and of a table without a primary key, can only be listed. `open` opens one view with `key`.
	 *
	 * @param broken called for a view that can't be opened, which is then left out. @default the error is thrown
	 * @throws TypeError for a schema that has nothing to open, and for a wrong option
	 * @throws RangeError for a `timeoutSeconds` out of range
	 */
	static async openAll(
		database: PostgresDatabase | Replicated<PostgresDatabase>,
		options: PostgresSchemaOptions = {},
		broken?: BrokenView,
	): Promise<Record<string, PostgresModel>> {
		const opening = await open(database, openingOptions('PostgresModel', options, ['schema', 'views']))
		const { relations, currentSchema } = opening.relations
		const { views = false } = opening
		const schema = options.schema ?? currentSchema
		const tables = relations.filter(
			(relation) => relation.schema === schema && (views || !relation.isView) && !relation.isPart,
		)
		if (tables.length === 0) {
			const schemas = [...new Set(relations.map((relation) => relation.schema))].join(', ')
			throw new TypeError(
				`there are no tables${views ? ' or views' : ''} in schema ${JSON.stringify(schema)}${schemas === '' ? '' : `; there are some in: ${schemas}`}`,
			)
		}
		const catalog = await readCatalog(opening.driver, tables)
		// Without a prototype, because a table may be named `constructor`.
		const models: Record<string, PostgresModel> = Object.create(null)
		for (const relation of tables) {
			try {
				const found = introspect(relation, catalog, opening.bigint)
				models[relation.name] = modelOf(withKey(found, primaryKey(found)), opening)
			} catch (error) {
				if (!relation.isView || broken === undefined) throw error
				broken(relation.name, error)
			}
		}
		return models
	}

	/**
	 * The same table as a role and settings of the database show it, for row level security. Each statement, and each
	 * transaction, has them until its end; statements that only read are read only.
	 *
	 *     const own = note.withSession({ role: 'web_user', settings: { 'app.user': 'ada' } })
	 *
	 * Statements are rejected with a TypeError if the database refuses the session: the role doesn't exist, or the
	 * connection's user isn't a member of it.
	 *
	 * @throws TypeError for anything but the name of a role, and settings with texts
	 */
	withSession(session: DatabaseSession): Model {
		const checked = readSession(`${this.name}: withSession()`, session)
		const key = sessionKey(checked)
		if (key === '') return this
		this.#sessions ??= new LruMap(new Lru(MAX_SESSION_BYTES))
		const known = this.#sessions.get(key)
		if (known !== undefined) return known
		const { [LIVE]: live, [RUNNER]: runner } = this
		const model = new SqlModel(live, runner.inSession(setupOf(key, checked)), live.subject.dialect)
		this.#sessions.add(key, model, MODEL_BYTES + 2 * key.length)
		return model
	}
}

/** Maximum size of the models that a table keeps for sessions: about 700 with claims of 300 characters. */
const MAX_SESSION_BYTES: Bytes = 1_048_576
/** Approximate size of a model besides its key, which its statements hold as well. */
const MODEL_BYTES: Bytes = 900

/**
 * The statements that begin a session that was checked. `set_config(…, true)` is `set local`, which ends with the transaction:
 * after it, the connection is as before, also after an error, and for the next client of a pooler.
 *
 * @param key see `sessionKey`
 */
function setupOf(key: string, { role, settings = {} }: DatabaseSession): SessionSetup {
	const entries = Object.entries(settings)
	// The role is the last one: it might not be allowed to change the settings.
	if (role !== undefined) entries.push(['role', role])
	const values = entries.flat()
	const terms = entries.map((_, at) => setting(`$${2 * at + 1}`, `$${2 * at + 2}`))
	const readOnly = setting(`'transaction_read_only'`, `'on'`)
	return {
		key,
		reads: {
			text: `select ${[...terms.slice(0, -1), readOnly, ...terms.slice(-1)].join(', ')}`,
			values,
			writes: false,
		},
		writes: { text: `select ${terms.join(', ')}`, values, writes: true },
	}
}

/** Returns a boolean, because the value itself, such as a user's claims, would be sent back. */
function setting(name: string, value: string): string {
	return `set_config(${name}, ${value}, true) is null`
}

interface Opening extends OpeningOptions, Connected {
	readonly lru: Lru
	readonly relations: Relations
}

async function open(
	given: PostgresDatabase | Replicated<PostgresDatabase>,
	options: OpeningOptions,
): Promise<Opening> {
	const pools = readPools('PostgresModel', given)
	const database = pools?.write ?? (given as PostgresDatabase) // not `Replicated`, as it has no pools
	const connected = driverOf(database, options.timeoutSeconds)
	await connected.begin?.()
	if (pools !== undefined) {
		const replicas = pools.read.map((pool) => driverOf(pool, options.timeoutSeconds))
		await openReplicas('PostgresModel', pools, { primary: connected.driver, replicas }, REPLICATION)
	}
	const relations = await readRelations(connected.driver)
	return { ...connected, relations, lru: lruOf(database), ...options }
}

/**
 * The position of a server in its write-ahead log, which any user may read. A replica that streams from the primary has the
 * same positions.
 */
const REPLICATION: Replication<bigint> = {
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

function modelOf(
	table: Table & Pick<Relation, 'isPlain'>,
	{ driver, throughText, relations, lru, timeoutSeconds, bigint }: Opening,
): PostgresModel {
	const float = table.columns.find(({ type, sqlType }) => type === 'float' || /^float\d\[\]$/.test(sqlType))
	if (float !== undefined && relations.extraFloatDigits < 1) {
		throw new TypeError(
			`extra_float_digits is ${relations.extraFloatDigits}, so ${table.name}.${float.name} would lose digits: set it to 1, PostgreSQL's default`,
		)
	}
	const { name, schema, key } = table
	const columns = columnsOf(table)
	const keys = key.map((one) => columnOf(columns, one))
	const upserts = table.isPlain && table.hasTriggers === false
	const dialect = dialectOf(throughText, keys, lru, upserts)
	const reopen = async (): Promise<Table> => {
		const current = await readRelations(driver)
		const relation = current.relations.find((one) => one.name === name && one.schema === schema)
		if (relation === undefined) throw new TypeError(`the table or view ${name} no longer exists`)
		const found = introspect(relation, await readCatalog(driver, [relation]), bigint)
		return withKey(found, keyOf(found, key))
	}
	return new PostgresModel(table, driver, dialect, timeoutSeconds, reopen)
}
