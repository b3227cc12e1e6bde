/** The `Logger` interface, and the one used where none is given. */

/** Where Verbena tells what clients must not read. pino, and winston's child loggers, fit as they are. */
export interface Logger {
	info(fields: object, message: string): void
	warn(fields: object, message: string): void
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
