/** The `Logger` interface, and the one used where none is given. */

/** Where Verbena tells what clients must not read. pino, and winston's child loggers, fit as they are. */
export interface Logger {
	/** What goes as it should: a request that was served. */
	info(fields: object, message: string): void
	/** What somebody may want to look into: credentials that were refused. */
	warn(fields: object, message: string): void
	/** What has failed; its cause is `fields.err`. */
	error(fields: object, message: string): void
}

/** Writes to the console: warnings and errors to standard error, with the error's stack. */
export const consoleLogger: Logger = {
	info(fields, message) {
		console.info(message, fields)
	},
	warn(fields, message) {
		console.warn(message, fields)
	},
	error(fields, message) {
		console.error(message, fields)
	},
}
