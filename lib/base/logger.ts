/** The `Logger` interface, and the default logger. */
import { errorText, escaped } from './error-text.ts'

/**
 * The interface of loggers: pino, and winston's child loggers, implement it. Entries may contain what clients must not
 * read.
 */
export interface Logger {
	/** Normal operation: a request that was served. */
	info(fields: object, message: string): void
	/** Worth a look: credentials that were refused. */
	warn(fields: object, message: string): void
	/** A failure; its cause is `fields.err`. */
	error(fields: object, message: string): void
}

/**
 * Writes to the console, warnings and errors to standard error; errors with their stack and all causes. Control
 * characters are escaped, so that a client's text cannot forge lines of the log.
 */
export const consoleLogger: Logger = {
	info: (fields, message) => console.info(...consoleArguments(fields, message)),
	warn: (fields, message) => console.warn(...consoleArguments(fields, message)),
	error: (fields, message) => console.error(...consoleArguments(fields, message)),
}

/** Logs, and ignores what the logger throws, which must not affect a request, other work or the process. */
export function logSafely(logger: Logger, level: keyof Logger, fields: object, message: string): void {
	try {
		logger[level](fields, message)
	} catch {}
}

/** The console escapes strings within objects, but neither its first argument nor the text of errors. */
function consoleArguments(fields: object, message: string): unknown[] {
	// The first argument is a format: `%s` in it would consume the fields.
	const format = escaped(message).replaceAll('%', '%%')
	const entries = Object.entries(fields)
	const errors = entries.filter(([, value]) => value instanceof Error)
	if (errors.length === 0) return [format, fields]
	const others = Object.fromEntries(entries.filter(([, value]) => !(value instanceof Error)))
	const texts = errors.map(([, error]) => errorText(error))
	return Object.keys(others).length === 0 ? [format, ...texts] : [format, others, ...texts]
}
