/** Parses and checks the command line: `verbena postgres://localhost/blog --port 8080 --write`. */
import { isIP } from 'node:net'
import { parseArgs } from 'node:util'
import { escaped } from '../base/error-text.ts'
import { nearest } from '../base/options.ts'
import { isLoopback } from '../transport/admission.ts'

/** A mistake on the command line: its message is all that is printed. */
export class UsageError extends Error {
	/** @param lines may contain names from a database: control characters, which a terminal would interpret, are escaped */
	constructor(...lines: readonly string[]) {
		super(lines.map(escaped).join('\n'))
	}
}

/** What `verbena` is asked to do. */
export interface Command {
	/** To serve the database, or to write something about it to standard output. */
	readonly action: 'serve' | 'types' | 'eject'
	/** `postgres://…`, `mysql://…`, `sqlite:blog.db`, or the path of an SQLite or a JSON file. */
	readonly source: string
	/** Only these tables. @default all */
	readonly tables: readonly string[] | undefined
	/** The schema of PostgreSQL. @default the connection's current schema */
	readonly schema: string | undefined
	readonly host: string
	readonly port: number
	readonly isWritable: boolean
	/** The token that every request must have in `Authorization: Bearer <token>`. */
	readonly token: string | undefined
	/** The token in the first curl line. */
	readonly shownToken: string
	readonly isWatching: boolean
}

export const USAGE = `Serves a database as a REST API.

  verbena postgres://user@localhost/blog     PostgreSQL, by pg or postgres
  verbena mysql://root@localhost/blog        MariaDB or MySQL, by mysql2
  verbena sqlite:blog.db                     SQLite, by node:sqlite, better-sqlite3 or libsql
  verbena blog.json                          lists of objects by name, kept in memory: {"posts":[{"id":1}]}
  verbena types postgres://… > db.ts         TypeScript's types of its records
  verbena eject postgres://… > api.ts        a program that serves the same

  --tables a,b    only these tables and views
  --schema name   the schema of PostgreSQL (default: the connection's own)
  --write         create, change and delete records, too
  --port 3000     0 for a free one
  --host name     the address to listen on (default: 127.0.0.1); others than loopback need a token
  --token text    what clients must send as "Authorization: Bearer …"; better in the variable VERBENA_TOKEN
  --watch         reload when the tables or the file change
  --help, --version
`

const OPTIONS = {
	tables: { type: 'string' },
	schema: { type: 'string' },
	write: { type: 'boolean', default: false },
	port: { type: 'string' },
	host: { type: 'string' },
	token: { type: 'string' },
	watch: { type: 'boolean' },
	help: { type: 'boolean', short: 'h', default: false },
	version: { type: 'boolean', short: 'v', default: false },
} as const

/** Options that mean nothing to `types` and `eject`. */
const SERVING = ['port', 'host', 'token', 'watch'] as const

/** Minimum length of a token, in characters: shorter ones can be guessed. */
const SHORTEST_TOKEN = 16

/**
 * Reads the arguments.
 *
 * @param env `VERBENA_TOKEN` is read: arguments are visible to all users of a machine
 * @returns what to do, or `'help'` or `'version'` if that is asked for
 * @throws UsageError for invalid or unsafe arguments
 */
export function parseCommand(args: readonly string[], env: NodeJS.ProcessEnv): Command | 'help' | 'version' {
	const { values, positionals } = parsed(args)
	if (values.help) return 'help'
	if (values.version) return 'version'
	const [first, second] = positionals
	const action = first === 'types' || first === 'eject' ? first : 'serve'
	const [source, ...others] =
		action === 'serve' ? [first, ...positionals.slice(1)] : [second, ...positionals.slice(2)]
	if (source === undefined || source === '')
		throw new UsageError('Which database? verbena postgres://user@localhost/blog', '', ...USAGE.split('\n'))
	if (others.length > 0 && action === 'serve' && /^[a-z]+$/i.test(source))
		throw new UsageError(`There is no command ${source}${nearest(source, ['types', 'eject'])}`)
	if (others.length > 0)
		throw new UsageError(
			`One database at a time, got ${others.length + 1}: write --tables a,b for its tables`,
		)
	const useless = action === 'serve' ? [] : SERVING.filter((name) => values[name] !== undefined)
	if (useless.length > 0)
		throw new UsageError(`--${useless[0]} is for serving: ${action} takes --tables, --schema and --write`)
	const { host = '127.0.0.1', port = '3000', watch = false } = values
	const token = values.token ?? (env.VERBENA_TOKEN === '' ? undefined : env.VERBENA_TOKEN)
	if (token !== undefined && !/^[\w.~+/=-]+$/.test(token))
		throw new UsageError('The token may have letters, digits and -._~+/= only')
	if (token !== undefined && token.length < SHORTEST_TOKEN)
		throw new UsageError(`The token must have at least ${SHORTEST_TOKEN} characters, got ${token.length}`)
	if (token === undefined && !isLocal(host))
		throw new UsageError(
			`On ${host} others can ${values.write ? 'read and change' : 'read'} every table: they must send a token. Make one, then run this again:`,
			'  export VERBENA_TOKEN=$(openssl rand -hex 24)',
		)
	return {
		action,
		source,
		tables: values.tables === undefined ? undefined : namesIn(values.tables),
		schema: values.schema,
		host,
		port: portOf(port),
		isWritable: values.write,
		token,
		shownToken: values.token === undefined ? '$VERBENA_TOKEN' : '<token>',
		isWatching: watch,
	}
}

function parsed(args: readonly string[]) {
	try {
		return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true })
	} catch (error) {
		const message = error instanceof Error ? error.message : String(error)
		const [, unknown] = /^Unknown option '([^' ]+)'/.exec(message) ?? []
		if (unknown === undefined) throw new UsageError(...message.split('\n'))
		const names = Object.keys(OPTIONS).map((name) => `--${name}`)
		throw new UsageError(`There is no option ${unknown}${nearest(unknown, names)}`, 'See verbena --help')
	}
}

function namesIn(text: string): string[] {
	const names = text.split(',').map((name) => name.trim())
	if (names.includes('')) throw new UsageError(`--tables needs names with commas between: --tables a,b`)
	return names
}

function portOf(text: string): number {
	const port = Number(text)
	if (/^\d+$/.test(text) && port <= 65_535) return port
	throw new UsageError(`--port must be a number from 0 to 65535, got ${JSON.stringify(text)}`)
}

/** Whether only programs of this machine can connect. */
export function isLocal(host: string): boolean {
	return host === 'localhost' || (isIP(host) !== 0 && isLoopback(host))
}
