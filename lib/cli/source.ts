/** `Source`: an open database of any kind, which `verbena` serves. */
import type { Model } from '../models/model.ts'
import type { BrokenView } from '../models/sql/options.ts'

/** How an ejected program opens a database. */
export interface Connecting {
	readonly driver: 'pg' | 'postgres' | 'mysql2/promise' | 'node:sqlite' | 'better-sqlite3' | 'libsql'
	/** A URL without its password, or a file. */
	readonly address: string
	/** The schema of PostgreSQL. @default the connection's own */
	readonly schema?: string | undefined
}

/** An open database. */
export interface Source {
	/** Its name for people, without user and password. */
	readonly place: string
	/** Left out if no driver is used. */
	readonly connecting?: Connecting
	/** Whether what is written is lost when the program ends. */
	readonly isTransient?: boolean
	/**
	 * Opens all its tables and views, as they are now.
	 *
	 * @param broken called for a view that can't be opened
	 * @throws Error for a database that can't be reached, for a table that can't be opened, and what `broken` throws
	 */
	open(broken: BrokenView): Promise<Readonly<Record<string, Model>>>
	/** A text that changes when the records do; without it, `--watch` compares the tables and their fields. */
	stamp?(): Promise<string>
	close(): Promise<void>
}
