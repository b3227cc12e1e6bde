/** `verbena eject`: writes a program that serves a database as `verbena` does, as a starting point. */
import type { CrudOptions } from '../crud/options.ts'
import { keyNames } from '../models/key.ts'
import { UsageError } from './arguments.ts'
import type { TablePlan } from './handlers.ts'
import { propertyName, quoted } from './record-types.ts'
import type { TableRelation } from './relations.ts'
import type { Connecting, Source } from './source.ts'

/** The lines of a program that open a database and close it. */
interface Opening {
	readonly imports: readonly string[]
	readonly open: readonly string[]
	/** The expression for a table's model. */
	readonly model: (table: string, options: string) => string
	readonly close: string
}

/**
 * Writes the program, in TypeScript.
 *
 * @throws UsageError for a JSON file, which is opened without a driver
 */
export function ejected(plans: readonly TablePlan[], { place, connecting }: Source): string {
	if (connecting === undefined) throw new UsageError(`${place}: eject is for databases that a driver opens`)
	const { imports, open, model, close } = OPENINGS[connecting.driver](connecting)
	const names = variablesOf(plans)
	const through = new Set(
		plans.flatMap(({ relations }) => Object.values(relations).map((one) => one.through)),
	)
	// The model of a junction table needs a variable: relations refer to it, and so does its own handler.
	const modelNames = new Map(
		plans.filter(({ name }) => through.has(name)).map(({ name }) => [name, `${names.get(name)}Model`]),
	)
	const opened = ({ name, model: { key } }: TablePlan) =>
		`await ${model(name, key.length === 0 ? ', { key: [] }' : '')}`
	const lines = [
		`/** Serves ${place.replaceAll('*/', '* /')}. Written by \`verbena eject\`. */`,
		...imports,
		'',
		...open,
		'',
		...plans
			.filter(({ name }) => modelNames.has(name))
			.map((plan) => `const ${modelNames.get(plan.name)} = ${opened(plan)}`),
		...plans.flatMap((plan) =>
			handlerLines(plan, modelNames.get(plan.name) ?? opened(plan), names, modelNames),
		),
		'const server = createServer(',
		`	{ ${plans.map(({ name, path }) => mounted(path, names.get(name) ?? '')).join(', ')} },`,
		`	{ explorer: true, openapi: { title: ${quoted(place)}, version: '1' }, compression: true, crossSiteWrites: false },`,
		')',
		'const { url } = await server.listen(Number(process.env.PORT ?? 3000))',
		'console.log(url)',
		'',
		'async function stop() {',
		'	await server.close()',
		`	${close}`,
		'}',
		"process.once('SIGINT', stop).once('SIGTERM', stop)",
		'',
	]
	return lines.join('\n')
}

function handlerLines(
	{ name, options, relations, model }: TablePlan,
	opened: string,
	names: ReadonlyMap<string, string>,
	modelNames: ReadonlyMap<string, string>,
): string[] {
	const related = Object.entries(relations).map(
		([relation, given]) => `\t\t${memberName(relation)}: ${relationText(given, names, modelNames)},`,
	)
	const isKeyless = keyNames(model).length === 0
	const { visible, searchable = [], creatable, updatable, allow = [] } = options
	const isDefault = !isKeyless && allow.length === 2
	const entries: [string, CrudOptions[keyof CrudOptions]][] = [
		['visible', visible],
		['searchable', searchable.length === 0 ? undefined : searchable],
		['creatable', creatable],
		['updatable', updatable],
		['allow', isDefault ? undefined : allow],
	]
	return [
		`const ${names.get(name)}: CrudHandler = new CrudHandler(${opened}, {`,
		...entries.flatMap(([option, value]) =>
			Array.isArray(value) ? [`\t${option}: ${listText(value)},`] : [],
		),
		...(related.length === 0 ? [] : ['\trelations: {', ...related, '\t},']),
		'})',
		'',
	]
}

function relationText(
	{ target, by, many, through, writable }: TableRelation,
	names: ReadonlyMap<string, string>,
	modelNames: ReadonlyMap<string, string>,
): string {
	const parts = [
		`to: () => ${names.get(target)}`,
		...(by === undefined ? [] : [`by: ${by.length === 1 ? quoted(by[0] ?? '') : listText(by)}`]),
		...(many === undefined ? [] : [`many: ${many}`]),
		...(through === undefined ? [] : [`through: ${modelNames.get(through)}`]),
		...(writable === undefined ? [] : [`writable: ${listText(writable)}`]),
	]
	return `{ ${parts.join(', ')} }`
}

function listText(names: readonly string[]): string {
	return `[${names.map(quoted).join(', ')}]`
}

function mounted(path: string, variable: string): string {
	const name = memberName(path)
	return name === variable ? name : `${name}: ${variable}`
}

/** A name in an object literal, where `__proto__: x` would set the prototype. */
function memberName(name: string): string {
	return name === '__proto__' ? "['__proto__']" : propertyName(name)
}

/** Names that the program uses itself, and reserved words, which a table may have as its name. */
const TAKEN: ReadonlySet<string> = new Set(
	`pg Pool postgres mysql createPool pool sql database Database DatabaseSync CrudHandler createServer PostgresModel MysqlModel
	SqliteModel server url stop process console Number arguments await break case catch class const continue debugger default
	delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null
	package private protected public return static super switch this throw true try typeof undefined var void while with yield
	NaN Infinity globalThis`.split(/\s+/),
)

/** A variable for each table: `orderItem` for `order_item`. */
function variablesOf(plans: readonly TablePlan[]): ReadonlyMap<string, string> {
	const taken = new Set(TAKEN)
	// A junction table's model has its variable's name with "Model" appended.
	const isTaken = (name: string) => taken.has(name) || taken.has(`${name}Model`)
	return new Map(
		plans.map(({ name }) => {
			const words = name.split(/[^\p{ID_Continue}]+|_+/u).filter((word) => word !== '')
			const joined = words
				.map((word, at) => (at === 0 ? word : word[0]?.toUpperCase() + word.slice(1)))
				.join('')
			const base = /^[\p{ID_Start}$]/u.test(joined) ? joined : `table${joined}`
			let variable = TAKEN.has(base) ? `${base}Table` : base
			for (let at = 2; isTaken(variable); at++) variable = `${base}${at}`
			taken.add(variable).add(`${variable}Model`)
			return [name, variable]
		}),
	)
}

const OPENINGS: Readonly<Record<Connecting['driver'], (connecting: Connecting) => Opening>> = {
	pg: ({ address, schema }) => ({
		imports: ["import pg from 'pg'", ...importsOf('PostgresModel', 'postgres')],
		open: [`const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? ${quoted(address)} })`],
		model: postgresModel('pool', schema),
		close: 'await pool.end()',
	}),
	postgres: ({ address, schema }) => ({
		imports: ["import postgres from 'postgres'", ...importsOf('PostgresModel', 'postgres')],
		open: [`const sql = ${postgresJs(address)}`],
		model: postgresModel('sql', schema),
		close: 'await sql.end()',
	}),
	'mysql2/promise': ({ address }) => ({
		imports: ["import mysql from 'mysql2/promise'", ...importsOf('MysqlModel', 'mysql')],
		open: [`const pool = mysql.createPool({ uri: process.env.DATABASE_URL ?? ${quoted(address)} })`],
		model: (table, options) => {
			const name = /^[a-z_][\w$]*$/i.test(table) ? table : `\`${table.replaceAll('`', '``')}\``
			return `MysqlModel.open(pool, ${quoted(name)}${options})`
		},
		close: 'await pool.end()',
	}),
	'node:sqlite': (connecting) => sqliteOpening(connecting, '{ DatabaseSync }', 'DatabaseSync'),
	'better-sqlite3': (connecting) => sqliteOpening(connecting, 'Database', 'Database'),
	libsql: (connecting) => sqliteOpening(connecting, 'Database', 'Database'),
}

/** postgres.js would send the folder of a Unix socket in the URL to the server as a setting. */
function postgresJs(address: string): string {
	const url = new URL(address)
	const socket = url.searchParams.get('host')
	if (socket === null) return `postgres(process.env.DATABASE_URL ?? ${quoted(address)})`
	url.searchParams.delete('host')
	const own = `postgres(${quoted(url.href)}, { host: ${quoted(socket)} })`
	return `process.env.DATABASE_URL === undefined ? ${own} : postgres(process.env.DATABASE_URL)`
}

function sqliteOpening({ driver, address }: Connecting, imported: string, Class: string): Opening {
	return {
		imports: [`import ${imported} from ${quoted(driver)}`, ...importsOf('SqliteModel', 'sqlite')],
		open: [
			`const database = new ${Class}(${quoted(address)})`,
			"database.exec('pragma busy_timeout = 5000; pragma foreign_keys = on')",
		],
		model: (table, options) => `SqliteModel.open(database, ${quoted(table)}${options})`,
		close: 'database.close()',
	}
}

function importsOf(model: string, subpath: string): string[] {
	return [
		"import { CrudHandler, createServer } from 'verbena'",
		`import { ${model} } from 'verbena/${subpath}'`,
	]
}

function postgresModel(database: string, schema: string | undefined): Opening['model'] {
	const name = (text: string) => (/^[a-z_][a-z0-9_]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`)
	const prefix = schema === undefined ? '' : `${name(schema)}.`
	return (table, options) => `PostgresModel.open(${database}, ${quoted(prefix + name(table))}${options})`
}
