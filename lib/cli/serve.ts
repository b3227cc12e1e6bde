/** Serves a database until the program is told to stop: what `npx verbena` does. */
import { setTimeout } from 'node:timers/promises'
import { TokenAuthenticator, tokenDigest } from '../auth/token/token-authenticator.ts'
import { consoleLogger, type Logger } from '../base/logger.ts'
import type { Milliseconds } from '../base/time.ts'
import type { Model } from '../models/model.ts'
import { createServer, type Server } from '../server/server.ts'
import type { Command } from './arguments.ts'
import { handlersOf, type Plans } from './handlers.ts'
import { listenProblem, problemOf } from './problems.ts'
import { reportOf } from './report.ts'
import type { Source } from './source.ts'
import { find, plansIn } from './tables.ts'

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
		const plans = await plansIn(found, command, source)
		const server = serverOf(plans, command)
		const listening = await server.listen(command.port, command.host).catch((error) => {
			throw listenProblem(error, command)
		})
		const { url = '', port = command.port } = listening
		print(reportOf(plans, source, command, url))
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

function serverOf({ plans }: Plans, { token }: Command): Server {
	const access = token === undefined ? undefined : 'user'
	return createServer(handlersOf(plans, access), {
		...{ explorer: true, compression: true },
		openapi: { title: 'A database', version: '1', ...(access === undefined ? {} : { access }) },
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
			const plans = await plansIn(found, command, source)
			const next = serverOf(plans, command)
			await current.server.close()
			const { url = '' } = await next.listen(command.port, command.host)
			Object.assign(current, { server: next, seen })
			print(`\nThe tables have changed.\n${reportOf(plans, source, command, url)}`)
		} catch (error) {
			// Those that were there are served on, until they can be read again.
			const { message } = problemOf(error, source.place)
			if (message !== said) print(message)
			said = message
		}
	}
}
