/**
 * `boundedRows`: the rows of a list, as long as their JSON is no more bytes than it may be. mysql2 would keep them all,
 * however large, before it answers. Used by `driver.ts`. A row has its JSON and its cursor, in this order, of which only
 * that of the page's last record is answered: the others may be large, but are neither counted nor kept.
 */

import type { Bytes } from '../../base/time.ts'
import { ModelError } from '../model-error.ts'
import type { Answered, Connection } from './connections.ts'

/** A command of mysql2 that was given no callback. */
interface Command {
	on(event: 'result', listener: (row: unknown) => void): unknown
	on(event: 'error', listener: (error: unknown) => void): unknown
	on(event: 'end', listener: () => void): unknown
}

/**
 * Answers once: the rows, the driver's error, or ModelError `too_large` as soon as the rows before the last have more
 * than `maxBytes`. Those that come after it are dropped.
 */
export function boundedRows(
	connection: Connection,
	command: unknown,
	maxBytes: Bytes,
	answered: Answered,
): void {
	if (!isCommand(command)) throw new TypeError('mysql2 has answered no command for a statement')
	const rows: unknown[][] = []
	let bytes = 0
	let isOver = false
	const answer: Answered = (error, result) => {
		if (isOver) return
		isOver = true
		connection.removeListener('error', fail)
		answered(error, result)
	}
	const fail = (error: unknown): void => answer(error)
	// Of a connection that is lost a command without a callback isn't told.
	connection.on('error', fail)
	command.on('error', fail)
	command.on('result', (row) => {
		if (isOver || !Array.isArray(row)) return
		if (bytes > maxBytes) {
			answer(new ModelError('too_large'))
			return
		}
		bytes += sizeOf(row[0])
		// The last record, or the one before where there is one behind the page.
		const passed = rows.at(-2)
		if (passed !== undefined) passed[1] = undefined
		rows.push(row)
	})
	command.on('end', () => answer(null, rows))
}

function isCommand(value: unknown): value is Command {
	return typeof value === 'object' && value !== null && 'on' in value && typeof value.on === 'function'
}

/** At least so many bytes of UTF-8. */
function sizeOf(value: unknown): Bytes {
	if (typeof value === 'string') return value.length
	return value instanceof Uint8Array ? value.byteLength : 0
}
