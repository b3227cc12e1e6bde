/** What `verbena` serves: a database that is open, of whatever kind. */
import type { Model } from '../models/model.ts'

/** An open database. */
export interface Source {
	/** What it is, for people: without user and password. */
	readonly place: string
	/** Whether what is written is lost when the program ends. */
	readonly isTransient?: boolean
	/**
	 * Opens all its tables, and with `views` its views, as they are now.
	 *
	 * @throws Error for a database that can't be reached, and for a table or view that can't be opened
	 */
	open(views: boolean): Promise<Readonly<Record<string, Model>>>
	/** Changes when the records do; without it, what the tables are like is compared. */
	stamp?(): Promise<string>
	close(): Promise<void>
}
