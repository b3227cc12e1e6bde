/** Calls handlers without a socket, with a logger that records its lines. */

import {
	createServer,
	type Handlers,
	type InjectedReply,
	type Server,
	type ServerOptions,
} from '../../lib/index.ts'
import { Log, type LogLine } from './listening.ts'

/** What a request has besides its request line. */
export interface More {
	readonly headers?: Readonly<Record<string, string | readonly string[]>>
	readonly body?: unknown
}

export interface Asking {
	readonly server: Server
	/** The log, oldest line first. */
	readonly lines: readonly LogLine[]
	/** `ask('GET /blog/article/5')`: without a method it is a GET. */
	ask(request: string, more?: More): Promise<InjectedReply>
	/** The same, as `200 {"success":true,"data":5}`. */
	said(request: string, more?: More): Promise<string>
	/** The message of the last logged error. */
	logged(): string
}

export function asking(handlers: Handlers, options: ServerOptions = {}): Asking {
	const log = new Log()
	const { lines } = log
	const server = createServer(handlers, { logger: log, logRequests: false, ...options })
	const ask = (request: string, more: More = {}): Promise<InjectedReply> => {
		const space = request.startsWith('/') ? -1 : request.indexOf(' ')
		const method = space === -1 ? 'GET' : request.slice(0, space)
		return server.inject({ method, url: request.slice(space + 1), ...more })
	}
	const said = async (request: string, more?: More): Promise<string> => {
		const { status, text } = await ask(request, more)
		return `${status} ${text()}`
	}
	const logged = (): string => {
		const error = lines.findLast((line) => line.level === 'error')?.fields.err
		return error instanceof Error ? error.message : String(error)
	}
	return { server, lines, ask, said, logged }
}

/** The envelope of a value, for comparison with `said`. */
export function ok(data: unknown): string {
	return `200 ${JSON.stringify({ success: true, data })}`
}

/** The message of the error that `work` throws. */
export function messageOf(work: () => unknown): string {
	try {
		work()
	} catch (error) {
		if (error instanceof Error) return error.message
		throw error
	}
	throw new Error('nothing was thrown')
}
