/** The `Logger` interface, and the one used where none is given. */
import { errorText, escaped } from './error-text.ts'

/** Where Verbena tells what clients must not read. pino, and winston's child loggers, fit as they are. */
export interface Logger {
	/** What goes as it should: a request that was served. */
	info(fields: object, message: string): void
	/** What somebody may want to look into: credentials that were refused. */
	warn(fields: object, message: string): void
	/** What has failed; its cause is `fields.err`. */
	error(fields: object, message: string): void
}

/**
 * Writes to the console: warnings and errors to standard error; an error with its stack and all of its causes. Control
 * characters are escaped, so that no text of a client passes for a line of the log.
 */
export const consoleLogger: Logger = {
	info: (fields, message) => console.info(...written(fields, message)),
	warn: (fields, message) => console.warn(...written(fields, message)),
	error: (fields, message) => console.error(...written(fields, message)),
}

/** The console escapes what texts in objects hold, but neither its first text nor what errors hold. */
function written(fields: object, message: string): unknown[] {
	// Its first text is a format: `%s` in it would take the place of the fields.
	const said = escaped(message).replaceAll('%', '%%')
	const entries = Object.entries(fields)
	const errors = entries.filter(([, value]) => value instanceof Error)
	if (errors.length === 0) return [said, fields]
	const others = Object.fromEntries(entries.filter(([, value]) => !(value instanceof Error)))
	const texts = errors.map(([, error]) => errorText(error))
	return Object.keys(others).length === 0 ? [said, ...texts] : [said, others, ...texts]
}
