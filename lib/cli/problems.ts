/** Messages for errors of databases and sockets, which tell the user what to do. */
import { ModelError } from '../models/model-error.ts'
import { NoAnswer, NoConnection } from '../models/sql/pool.ts'
import { type Command, UsageError } from './arguments.ts'

/** Codes of Node, PostgreSQL (SQLSTATE), MariaDB and MySQL, and SQLite. */
const PROBLEMS: Readonly<Record<string, (place: string, reason: string) => string>> = {
	ECONNREFUSED: silent,
	ENOENT: (place) => `${place} does not answer: its socket is not there`,
	EHOSTUNREACH: (place) => `${place} can't be reached from this network`,
	ENETUNREACH: (place) => `${place} can't be reached from this network`,
	ENOTFOUND: (place) => `${place}: there is no such host`,
	EAI_AGAIN: (place) => `${place}: the host's address can't be found now`,
	ETIMEDOUT: (place) => `${place} does not answer: is a firewall in the way?`,
	ECONNRESET: (place) => `${place} has closed the connection: does it want TLS (?sslmode=require)?`,
	'28P01': (place, reason) => `${place} refuses the password: ${reason}`,
	'28000': (place, reason) => `${place} refuses the user: ${reason}`,
	'3D000': (place, reason) => `${place}: ${reason}`,
	'42501': (place, reason) => `${place}: no right to read it: ${reason}`,
	ER_ACCESS_DENIED_ERROR: (place, reason) => `${place} refuses the user or the password: ${reason}`,
	ER_ACCESS_DENIED_NO_PASSWORD_ERROR: (place, reason) =>
		`${place} refuses the user or the password: ${reason}`,
	ER_DBACCESS_DENIED_ERROR: (place, reason) => `${place}: no right to this database: ${reason}`,
	ER_BAD_DB_ERROR: (place, reason) => `${place}: ${reason}`,
	SQLITE_CANTOPEN: (place) => `${place} can't be opened: it must be a file that this user can read`,
	SQLITE_NOTADB: (place) => `${place} is not an SQLite database`,
}

/** The message for an error when opening a database. */
export function problemOf(error: unknown, place: string): UsageError {
	if (error instanceof UsageError) return error
	const reason = reasonOf(error)
	const known = PROBLEMS[codesOf(error).find((code) => Object.hasOwn(PROBLEMS, code)) ?? '']
	if (known !== undefined) return new UsageError(known(place, reason))
	// node:sqlite gives every error one code.
	if (/not a database/.test(reason)) return new UsageError(`${place} is not an SQLite database`)
	if (isPassing(error)) return new UsageError(silent(place))
	return new UsageError(`${place}: ${reason}`)
}

function silent(place: string): string {
	return `${place} does not answer: is the server running, and is this its port?`
}

/** Whether the failure is temporary, so that it says nothing about a table. */
export function isPassing(error: unknown): boolean {
	if (error instanceof NoConnection || error instanceof NoAnswer) return true
	return error instanceof ModelError && (error.kind === 'unavailable' || error.kind === 'busy')
}

/** Whether the server can't be reached or refuses the user, so that leaving out a table won't help. */
export function isConnectionProblem(error: unknown): boolean {
	return isPassing(error) || codesOf(error).some((code) => Object.hasOwn(PROBLEMS, code))
}

/** The message of the innermost cause: a model's own error only says that the store failed. */
export function reasonOf(error: unknown): string {
	let cause = error
	for (;;) {
		const inner: unknown =
			cause instanceof AggregateError ? cause.errors[0] : cause instanceof Error && cause.cause
		if (!(inner instanceof Error)) break
		cause = inner
	}
	return cause instanceof Error && cause.message !== '' ? cause.message : String(cause)
}

/** The message for an error when the server starts to listen. */
export function listenProblem(error: unknown, { port, host }: Command): UsageError {
	const [code] = codesOf(error)
	if (code === 'EADDRINUSE')
		return new UsageError(
			`Port ${port} is taken: choose another with --port ${port === 65_535 ? 3000 : port + 1}, or a free one with --port 0`,
		)
	if (code === 'EACCES')
		return new UsageError(`No right to listen on port ${port}: choose one above 1023 with --port`)
	if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
		return new UsageError(`${host} is no address of this machine: leave out --host for 127.0.0.1`)
	return new UsageError(reasonOf(error))
}

/** The codes of an error and its causes; of an AggregateError, one for each address that was tried. */
function codesOf(error: unknown): string[] {
	if (!(error instanceof Error)) return []
	const own = 'code' in error && typeof error.code === 'string' ? [error.code] : []
	const others = error instanceof AggregateError ? error.errors : []
	return [...own, ...[error.cause, ...others].flatMap(codesOf)]
}
