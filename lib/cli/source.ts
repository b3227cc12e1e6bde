/** What `verbena` serves: a database that is open, of whatever kind. */
import type { Model } from '../models/model.ts'
import type { BrokenView } from '../models/sql/options.ts'

/** How a program of one's own opens a database. */
export interface Connecting {
	readonly driver: 'pg' | 'postgres' | 'mysql2/promise' | 'node:sqlite' | 'better-sqlite3' | 'libsql'
	/** A URL without its password, or a file. */
	readonly address: string
	/** The schema of PostgreSQL. @default the connection's own */
	readonly schema?: string | undefined
}

/** An open database. */
export interface Source {
	/** What it is, for people: without user and password. */
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
	/** Changes when the records do; without it, what the tables are like is compared. */
	stamp?(): Promise<string>
	close(): Promise<void>
}
