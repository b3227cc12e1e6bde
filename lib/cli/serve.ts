/** Serves a database until the program is told to stop, and prints what is served: what `npx verbena` does. */
import { setTimeout } from 'node:timers/promises'
import { TokenAuthenticator, tokenDigest } from '../auth/token/token-authenticator.ts'
import { escaped } from '../base/error-text.ts'
import { consoleLogger, type Logger } from '../base/logger.ts'
import type { Milliseconds } from '../base/time.ts'
import { keyNames } from '../models/key.ts'
import type { Model } from '../models/model.ts'
import type { Listening } from '../server/listen.ts'
import { createServer, type Server } from '../server/server.ts'
import type { Command } from './arguments.ts'
import { handlersOf, type Plans, type TablePlan } from './handlers.ts'
import { listenProblem, problemOf } from './problems.ts'
import type { Source } from './source.ts'
import { openTables, plansIn } from './tables.ts'

/** How often `--watch` looks at the tables. */
const WATCH_INTERVAL: Milliseconds = 2_000
/** Maximum number of tables to list; all are in the OpenAPI description. */
const MOST_TABLES = 30
/** Maximum number of a table's columns, and of its relations, to list. */
const MOST_NAMES = 8

/** The log is for the person at the terminal: failures with their causes, but only the message of a warning. */
const logger: Logger = { ...consoleLogger, warn: (_, message) => console.error(escaped(message)) }

export interface Serving {
	/** Without a trailing slash. */
	readonly url: string
	/** Finishes the requests that have begun, and closes the database. May be called again. */
	close(): Promise<void>
}

/** What is served at the moment. */
interface Served {
	server: Server
	/** Changes when the tables to serve change. */
	version: string
}

/**
 * Opens a database and serves its tables.
 *
 * @param print writes to the user: what is served, and with `--watch` what has changed
 * @throws UsageError for a database that can't be opened or has nothing to serve, and for a port that is taken
 */
export async function serve(
	command: Command,
	source: Source,
	print: (text: string) => void,
	interval = WATCH_INTERVAL,
): Promise<Serving> {
	try {
		// Read before the records, so that `watch` notices a change made in between.
		const stamp = await source.stamp?.()
		const opened = await openTables(command, source, print)
		const plans = await plansIn(opened, command, source)
		const server = serverOf(plans, command, source)
		const { url, port } = await listening(server, command)
		const served: Served = { server, version: stamp ?? shapeOf(opened.models) }
		const stopping = new AbortController()
		print(reportOf(plans, source, command, url))
		const watching = command.isWatching
			? watch({ ...command, port }, source, print, served, interval, stopping.signal)
			: undefined
		const close = async () => {
			stopping.abort()
			// Closed at once, even if `watch` is reading tables; and again, because `watch` may have replaced the server.
			await served.server.close()
			await watching
			await served.server.close()
			await source.close()
		}
		let closing: Promise<void> | undefined
		return {
			url,
			close: () => {
				closing ??= close()
				return closing
			},
		}
	} catch (error) {
		// Its connections would keep the program alive. Not waited for: the message must not depend on a server that hangs.
		source.close().catch(() => {})
		throw error
	}
}

async function listening(server: Server, command: Command): Promise<Listening> {
	try {
		return await server.listen(command.port, command.host)
	} catch (error) {
		await server.close()
		throw listenProblem(error, command)
	}
}

function serverOf({ plans }: Plans, { token, isWatching }: Command, { place }: Source): Server {
	const access = token === undefined ? undefined : 'user'
	return createServer(handlersOf(plans, access), {
		...{ explorer: true, compression: true, logger, logRequests: false },
		openapi: { title: place, version: '1', ...(access === undefined ? {} : { access }) },
		// Stops CSRF: pages of other sites can't write.
		crossSiteWrites: false,
		...(token === undefined
			? {}
			: { authenticator: new TokenAuthenticator({ tokens: { [tokenDigest(token)]: { id: 'user' } } }) }),
		// Short, because the port is closed until the next server replaces this one.
		...(isWatching ? { graceTimeoutSeconds: 1 } : {}),
	})
}

function shapeOf(models: ReadonlyMap<string, Model>): string {
	const all = [...models.values()]
	return JSON.stringify(
		[...models].map(([name, model]) => [
			...[name, model.key, model.readOnly, model.fields],
			...all.map((other) => model.references?.(other) ?? []),
		]),
		(_, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
	)
}

/** Replaces the server by a new one on the same port each time the tables have changed. */
async function watch(
	command: Command,
	source: Source,
	print: (text: string) => void,
	served: Served,
	interval: Milliseconds,
	signal: AbortSignal,
): Promise<void> {
	let lastMessage = ''
	for (;;) {
		// Rejects when it is aborted.
		await setTimeout(interval, undefined, { signal }).catch(() => {})
		if (signal.aborted) return
		try {
			const stamp = await source.stamp?.()
			if (stamp !== undefined && stamp === served.version) continue
			const opened = await openTables(command, source, () => {})
			const version = stamp ?? shapeOf(opened.models)
			if (version === served.version) continue
			const plans = await plansIn(opened, command, source)
			const next = serverOf(plans, command, source)
			if (signal.aborted) return
			// If the port is lost now, the next round starts a server even if the tables are the same.
			served.version = ''
			await served.server.close()
			const { url } = await listening(next, command)
			Object.assign(served, { server: next, version })
			lastMessage = ''
			print(`\nThe tables have changed.\n${reportOf(plans, source, command, url)}`)
		} catch (error) {
			// Tried again in the next round.
			const { message } = problemOf(error, source.place)
			if (message !== lastMessage) print(message)
			lastMessage = message
		}
	}
}

/** What is served, where, the first curl line, and how to go on. */
function reportOf(
	{ plans, refused }: Plans,
	{ place, isTransient }: Source,
	{ isWritable, token, shownToken }: Command,
	url: string,
): string {
	const width = Math.max(...plans.slice(0, MOST_TABLES).map(({ path }) => path.length))
	const first = plans.find(({ model }) => keyNames(model).length > 0) ?? plans[0]
	const authorization = token === undefined ? '' : `-H "Authorization: Bearer ${shownToken}" `
	const lines = [
		`${place}: ${counted(plans.length, 'table')}, ${isWritable ? 'to read and to write' : 'read only'}`,
		'',
		...plans.slice(0, MOST_TABLES).map((table) => `  /${table.path.padEnd(width)}  ${contentsOf(table)}`),
		...(plans.length > MOST_TABLES
			? [`  … and ${plans.length - MOST_TABLES} more: ${url}/openapi.json`]
			: []),
		...refused.map((reason) => `  not served: ${reason}`),
		'',
		`Try:         curl ${authorization}'${url}/${encodeURIComponent(first?.path ?? '')}?limit=3'`,
		`Browser:     ${url}/`,
		`Description: ${url}/openapi.json`,
		isWritable ? writing(isTransient === true) : 'To write:    add --write',
		'Stop:        Ctrl-C',
	]
	// Names and reasons are the database's: no control characters for the terminal.
	return lines.map(escaped).join('\n')
}

function writing(isTransient: boolean): string {
	return `Writing:     POST, PATCH, PUT and DELETE${isTransient ? '; in memory, so lost when it stops' : ''}`
}

function contentsOf({ model, relations }: TablePlan): string {
	const fields = model.fields.map(({ name }) => name)
	const names = Object.keys(relations)
	const related = names.length === 0 ? '' : `  with ${some(names)}`
	return `${some(fields)}${related}${keyNames(model).length === 0 ? '  (list only: no key)' : ''}`
}

function some(names: readonly string[]): string {
	const rest = names.length - MOST_NAMES
	return rest <= 1 ? names.join(', ') : `${names.slice(0, MOST_NAMES).join(', ')} and ${rest} more`
}

function counted(count: number, what: string): string {
	return `${count} ${what}${count === 1 ? '' : 's'}`
}
