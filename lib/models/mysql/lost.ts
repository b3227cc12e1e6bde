/** Errors by which the driver says that a connection wasn't had, or was lost; and how mysql2's are told from others. */
import { NoAnswer, NoConnection } from '../sql/pool.ts'

/** Codes of mysql2 and of Node for a connection that broke. */
const LOST = new Set([
	'PROTOCOL_CONNECTION_LOST',
	'PROTOCOL_ERROR',
	'PROTOCOL_UNEXPECTED_PACKET',
	'PROTOCOL_SEQUENCE_TIMEOUT',
	'ECONNRESET',
	'ECONNABORTED',
	'EPIPE',
	'ETIMEDOUT',
	'ENETRESET',
	'ENETDOWN',
	'ENETUNREACH',
	'EHOSTUNREACH',
	'ENOTCONN',
	'ERR_STREAM_DESTROYED',
	'ERR_STREAM_WRITE_AFTER_END',
])

/**
 * The server ends the connection with these: shutdown in progress, aborting, a packet that is too large, gone away, lost
 * during a query, killed (MariaDB's), closed for idleness (MySQL's).
 */
const ENDED = new Set([1053, 1152, 1153, 1184, 1927, 2006, 2013, 4031])

/**
 * A server that has become one to read from only, or a node of Galera without the majority of its cluster: other
 * connections lead to those that take changes.
 */
const READ_ONLY = new Set([1290, 1836, 1047])

/** mysql2's message, without a code, for a connection that was closed before the statement was sent. */
const CLOSED = "Can't add new command when connection is in closed state"

export function codeOf(error: unknown): string | undefined {
	const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
	return typeof code === 'string' ? code : undefined
}

/** The number by which the server says what is wrong. */
export function numberOf(error: unknown): number | undefined {
	const number: unknown = error instanceof Error ? Reflect.get(error, 'errno') : undefined
	return typeof number === 'number' && number > 0 ? number : undefined
}

/** Whether the connection broke, or was ended, under a statement. */
export function isLost(error: unknown): boolean {
	if (error instanceof NoAnswer) return true
	const code = codeOf(error)
	if (code !== undefined && LOST.has(code)) return true
	const number = numberOf(error)
	if (number !== undefined) return ENDED.has(number)
	return error instanceof Error && Reflect.get(error, 'fatal') === true
}

/** Whether the statement was never sent. */
export function isUnsent(error: unknown): boolean {
	return error instanceof NoConnection || (error instanceof Error && error.message === CLOSED)
}

export function isReadOnly(error: unknown): boolean {
	return READ_ONLY.has(numberOf(error) ?? 0)
}
