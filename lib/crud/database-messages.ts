/**
 * The option `databaseMessages` of a `CrudHandler`: which errors raised by rules of the database clients may read, and
 * in which words. Checked by `plan.ts`, read by `model-errors.ts`.
 */
import type { RaisedError } from '../models/model-error.ts'

/**
 * Codes whose own text is shown, or for each code `true` for its own text, or the words to send instead. A code is a
 * SQLSTATE (`P0001` of PostgreSQL's `raise exception`, `45000` of MariaDB's and MySQL's `signal`), or SQLite's
 * `SQLITE_CONSTRAINT_TRIGGER`.
 */
export type DatabaseMessages = readonly string[] | { readonly [code: string]: true | string }

/** The words for each code; `true` for the database's own. */
export type MessageMap = ReadonlyMap<string, true | string>

const CODE = /^(?:[0-9A-Z]{5}|SQLITE_CONSTRAINT_TRIGGER)$/

/** @throws TypeError for what is no code, and for words that are no text */
export function readDatabaseMessages(owner: string, option: unknown): MessageMap {
	if (option === undefined) return new Map()
	if (typeof option !== 'object' || option === null)
		throw new TypeError(`${owner}: databaseMessages must be an array of codes, or an object: { P0001: true }`)
	const entries: (readonly [unknown, unknown])[] = Array.isArray(option)
		? option.map((code: unknown) => [code, true])
		: Object.entries(option)
	return new Map(
		entries.map(([code, words]) => {
			if (typeof code !== 'string' || !CODE.test(code))
				throw new TypeError(
					`${owner}: databaseMessages: ${JSON.stringify(code)} is no SQLSTATE, which has five digits or capital letters: 'P0001', '45000'`,
				)
			if (words === true || (typeof words === 'string' && words !== '')) return [code, words]
			throw new TypeError(
				`${owner}: databaseMessages: ${code} must be true for the database's own text, or the text to send instead`,
			)
		}),
	)
}

/** What a client is told of an error that was raised; `undefined` for nothing. */
export function shownMessage(messages: MessageMap, raised: RaisedError | undefined): string | undefined {
	if (raised === undefined) return undefined
	const words = messages.get(raised.code)
	return words === true ? raised.message : words
}
