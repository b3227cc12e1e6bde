/**
 * `PostgresModel`: a table or view of PostgreSQL as a `Model`, over the user's own pg `Pool`, postgres.js `sql`
 * or PGlite. Columns, types, key and constraints are read from the live database when it is opened.
 */
import { SqlModel } from '../sql/sql-model.ts'
import type { Seconds } from '../time.ts'
import { type Relations, readCatalog, readRelations } from './postgres/catalog.ts'
import { connected, type PostgresDatabase } from './postgres/database.ts'
import { PostgresDialect } from './postgres/dialect.ts'
import { type BigintForm, type Found, hasKey, introspect, withKey } from './postgres/introspect.ts'
import { relationCalled } from './postgres/table-name.ts'

export type { PostgresDatabase } from './postgres/database.ts'

export interface PostgresOptions {
	/**
	 * How `bigint` is written in JSON: a number with all its digits, of which JavaScript keeps those up to 2^53,
	 * or a string.
	 *
	 * @default 'number'
	 */
	readonly bigint?: BigintForm
	/**
	 * How long the driver is waited for at most, for a connection or for an answer; then the request is answered
	 * 503. A pg Pool by itself waits for ever.
	 *
	 * @default 5
	 */
	readonly timeoutSeconds?: Seconds
}

export interface PostgresTableOptions extends PostgresOptions {
	/**
	 * The column that tells records apart: an integer, a uuid or a text, unique and not null.
	 *
	 * @default the primary key, where it is of one column; views have none
	 */
	readonly key?: string
}

export interface PostgresSchemaOptions extends PostgresOptions {
	/** @default the connection's current schema */
	readonly schema?: string
}

const TIMEOUT_SECONDS = 5

/**
 *     const article = await PostgresModel.open(pool, 'article')
 *     createServer({ article: new CrudHandler(article, { visible: 'all' }) })
 *
 * A pg Pool emits `error` for idle connections when the server stops, which would end the process: where nobody
 * listens to it, a listener is added that does nothing else.
 */
export class PostgresModel extends SqlModel {
	/**
	 * Opens a table or view: `article`, `schema.article`, or quoted as in SQL. Views can only be read, and need
	 * `key`.
	 *
	 * @throws TypeError for a table that isn't there, for one without a key, and for an option that is wrong
	 */
	static async open(
		database: PostgresDatabase,
		name: string,
		options: PostgresTableOptions = {},
	): Promise<PostgresModel> {
		const opening = await open(database, options)
		const relation = relationCalled(name, opening.relations.relations)
		const catalog = await readCatalog(opening.driver, [relation])
		return modelOf(introspect(relation, catalog, opening.bigint), opening, options.key)
	}

	/**
	 * Opens every table of a schema whose primary key is one column; an object by table name. The others, and
	 * views, are to be opened one by one with their `key`.
	 *
	 * @throws TypeError where there is no such schema, and for an option that is wrong
	 */
	static async openAll(
		database: PostgresDatabase,
		options: PostgresSchemaOptions = {},
	): Promise<Record<string, PostgresModel>> {
		const opening = await open(database, options)
		const { relations, currentSchema } = opening.relations
		const schema = options.schema ?? currentSchema
		const own = relations.filter(
			(relation) => relation.schema === schema && !relation.isView && !relation.isPart,
		)
		if (own.length === 0) {
			const schemas = [...new Set(relations.map((relation) => relation.schema))].join(', ')
			throw new TypeError(
				`there are no tables in schema ${JSON.stringify(schema)}; there are some in: ${schemas}`,
			)
		}
		const catalog = await readCatalog(opening.driver, own)
		// Without a prototype: a table may be called `constructor`.
		const models: Record<string, PostgresModel> = Object.create(null)
		for (const relation of own) {
			const found = introspect(relation, catalog, opening.bigint)
			if (hasKey(found)) models[relation.name] = modelOf(found, opening, undefined)
		}
		return models
	}
}

interface Opening extends ReturnType<typeof connected> {
	readonly relations: Relations
	readonly bigint: BigintForm
	readonly timeoutSeconds: Seconds
}

async function open(database: PostgresDatabase, options: PostgresOptions): Promise<Opening> {
	const { bigint = 'number', timeoutSeconds = TIMEOUT_SECONDS } = options
	if (bigint !== 'number' && bigint !== 'string') {
		throw new TypeError(`bigint must be 'number' or 'string', got ${JSON.stringify(bigint)}`)
	}
	if (typeof timeoutSeconds !== 'number' || !(timeoutSeconds > 0)) {
		throw new RangeError(`timeoutSeconds must be a number above 0, got ${String(timeoutSeconds)}`)
	}
	const { driver, throughText } = connected(database, timeoutSeconds)
	const relations = await readRelations(driver)
	return { driver, throughText, relations, bigint, timeoutSeconds }
}

function modelOf(
	found: Found,
	{ driver, throughText, relations, timeoutSeconds }: Opening,
	key?: string,
): PostgresModel {
	const isFloat = found.table.columns.find(
		({ type, sqlType }) => type === 'float' || /^float\d\[\]$/.test(sqlType),
	)
	if (isFloat !== undefined && relations.extraFloatDigits < 1) {
		throw new TypeError(
			`extra_float_digits is ${relations.extraFloatDigits}, so ${found.table.name}.${isFloat.name} would lose digits: set it to 1, PostgreSQL's default`,
		)
	}
	const keyed = withKey(found, key)
	const dialect = new PostgresDialect(throughText, keyed.key)
	return new PostgresModel(keyed.table, driver, dialect, { timeoutSeconds })
}
