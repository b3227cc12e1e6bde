/** Runs tests against a real server on a free loopback port, and always closes it. */
import { createServer, type Handlers, type Logger, type Server, type ServerOptions } from '../../lib/index.ts'

/** One log line. */
export interface LogLine {
	readonly level: 'info' | 'warn' | 'error'
	readonly fields: Readonly<Record<string, unknown>>
	readonly message: string
}

/** A logger that records its lines, so that tests are silent and can check them. */
export class Log implements Logger {
	readonly lines: LogLine[] = []

	info(fields: object, message: string): void {
		this.#add('info', fields, message)
	}

	warn(fields: object, message: string): void {
		this.#add('warn', fields, message)
	}

	error(fields: object, message: string): void {
		this.#add('error', fields, message)
	}

	/** Level and message of every line. */
	get messages(): string[] {
		return this.lines.map(({ level, message }) => `${level}: ${message}`)
	}

	#add(level: LogLine['level'], fields: object, message: string): void {
		this.lines.push({ level, fields: fields as Record<string, unknown>, message })
	}
}

/** What a test receives. */
export interface Site {
	readonly server: Server
	readonly url: string
	readonly port: number
	readonly log: Log
}

/** A short grace period, so that a test which leaves a connection open doesn't delay the run; warnings go to the log. */
const QUICK: ServerOptions = { graceTimeoutSeconds: 0.1, logRequests: false }

/** Listens, runs `use`, and always closes. */
export async function listening(
	handlers: Handlers,
	options: ServerOptions,
	use: (site: Site) => Promise<void>,
): Promise<void> {
	const log = new Log()
	const server = createServer(handlers, { logger: log, ...QUICK, ...options })
	try {
		const { url, port } = await server.listen()
		await use({ server, url, port, log })
	} finally {
		await server.close()
	}
}

/** Waits until `holds` is true, polling every 5 ms. Fails after `time` milliseconds; the default is long, as machines stall. */
export async function until(
	holds: () => boolean | Promise<boolean>,
	what: string,
	time = 120_000,
): Promise<void> {
	const end = performance.now() + time
	while (!(await holds())) {
		if (performance.now() > end) throw new Error(`not within ${time} ms: ${what}`)
		await new Promise((resolve) => setTimeout(resolve, 5))
	}
}
