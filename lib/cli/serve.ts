/** Serves a database until the program is told to stop: what `npx verbena` does. */
import { setTimeout } from 'node:timers/promises'
import { TokenAuthenticator, tokenDigest } from '../auth/token/token-authenticator.ts'
import { consoleLogger, type Logger } from '../base/logger.ts'
import { nearest } from '../base/options.ts'
import type { Milliseconds } from '../base/time.ts'
import type { Model } from '../models/model.ts'
import { createServer, type Server } from '../server/server.ts'
import { type Command, UsageError } from './arguments.ts'
import { reasonOf, type Tables, tablesOf } from './handlers.ts'
import { listenProblem, problemOf } from './problems.ts'
import { reportOf } from './report.ts'
import type { Source } from './source.ts'

/** Reading a catalog that takes longer is told of. */
const PATIENCE: Milliseconds = 1_000
/** How often `--watch` looks at the tables. */
const WATCH: Milliseconds = 2_000

/** For the person at the terminal: what failed, with its causes, and of warnings the message. */
const logger: Logger = { ...consoleLogger, warn: (_, message) => console.error(message) }

/** A database that is being served. */
export interface Serving {
	/** Without a trailing slash. */
	readonly url: string
	/** Answers what has begun, and closes the database. */
	close(): Promise<void>
}

/**
 * Opens a database and serves its tables.
 *
 * @param print for people: what is served, and with `--watch` what has changed
 * @throws UsageError for a database that can't be opened, has nothing to serve, or a port that is taken
 */
export async function serve(
	command: Command,
	source: Source,
	print: (text: string) => void,
): Promise<Serving> {
	try {
		const found = await find(command, source, print)
		const tables = await tablesIn(found, command, source)
		const server = serverOf(tables, command)
		const listening = await server.listen(command.port, command.host).catch((error) => {
			throw listenProblem(error, command)
		})
		const { url = '', port = command.port } = listening
		print(reportOf(tables, source, command, url))
		const watching = new AbortController()
		const current = { server, seen: await seenOf(source, found.models) }
		const watched = command.isWatching
			? watch({ ...command, port }, source, print, current, watching.signal)
			: Promise.resolve()
		return {
			url,
			async close() {
				watching.abort()
				await watched
				await current.server.close()
				await source.close()
			},
		}
	} catch (error) {
		// Its connections would keep a program alive that serves nobody.
		await source.close().catch(() => {})
		throw error
	}
}

/** The tables that the command names, or all of the database. */
interface Found {
	readonly models: ReadonlyMap<string, Model>
	/** Why there are no views. */
	readonly failure: string | undefined
}

async function find({ tables }: Command, source: Source, print: (text: string) => void): Promise<Found> {
	const waiting = new AbortController()
	setTimeout(PATIENCE, undefined, { signal: waiting.signal, ref: false }).then(
		() => print(`Reading the tables of ${source.place} …`),
		() => {},
	)
	try {
		const { all, failure } = await openAll(source)
		for (const name of tables ?? [])
			if (!all.has(name))
				throw new UsageError(`${source.place} has no table ${name}${nearest(name, all.keys())}`)
		const models = tables === undefined ? all : new Map([...all].filter(([name]) => tables.includes(name)))
		return { models, failure }
	} catch (error) {
		throw problemOf(error, source.place)
	} finally {
		waiting.abort()
	}
}

/** Opens its tables without its views if one of these can't be opened: it may have lost its table. */
async function openAll(source: Source): Promise<{ all: Map<string, Model>; failure: string | undefined }> {
	try {
		return { all: new Map(Object.entries(await source.open(true))), failure: undefined }
	} catch (error) {
		const tables = await source.open(false).catch(() => undefined)
		if (tables === undefined) throw error
		return { all: new Map(Object.entries(tables)), failure: `views: ${reasonOf(error)}` }
	}
}

async function tablesIn(
	{ models, failure }: Found,
	{ isWritable, token }: Command,
	{ place }: Source,
): Promise<Tables> {
	const { served, refused } = await tablesOf(models, isWritable, token === undefined ? 'anyone' : 'user')
	const reasons = failure === undefined ? refused : [...refused, failure]
	if (served.length > 0) return { served, refused: reasons }
	if (reasons.length === 0) throw new UsageError(`${place} has no tables that this user can see`)
	throw new UsageError(`${place} has no table that can be served:\n  ${reasons.join('\n  ')}`)
}

function serverOf({ served }: Tables, { token }: Command): Server {
	const access = token === undefined ? 'anyone' : 'user'
	return createServer(Object.fromEntries(served.map(({ path, handler }) => [path, handler])), {
		...{ explorer: true, openapi: { title: 'A database', version: '1', access }, compression: true },
		// Pages of other sites are to change nothing here.
		crossSiteWrites: false,
		logger,
		logRequests: false,
		...(token === undefined
			? {}
			: { authenticator: new TokenAuthenticator({ tokens: { [tokenDigest(token)]: { id: 'user' } } }) }),
	})
}

/** A text that differs when there is something new to serve. */
function seenOf(source: Source, models: ReadonlyMap<string, Model>): Promise<string> | string {
	return source.stamp?.() ?? shapeOf(models)
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

/** Serves anew, on the same port, each time the tables have changed. */
async function watch(
	command: Command,
	source: Source,
	print: (text: string) => void,
	current: { server: Server; seen: string },
	signal: AbortSignal,
): Promise<void> {
	let said = ''
	for (;;) {
		try {
			await setTimeout(WATCH, undefined, { signal })
		} catch {
			return
		}
		try {
			const found = await find(command, source, () => {})
			const seen = await seenOf(source, found.models)
			said = ''
			if (seen === current.seen) continue
			const tables = await tablesIn(found, command, source)
			const next = serverOf(tables, command)
			await current.server.close()
			const { url = '' } = await next.listen(command.port, command.host)
			Object.assign(current, { server: next, seen })
			print(`\nThe tables have changed.\n${reportOf(tables, source, command, url)}`)
		} catch (error) {
			// Those that were there are served on, until they can be read again.
			const { message } = problemOf(error, source.place)
			if (message !== said) print(message)
			said = message
		}
	}
}
