/** A table or view as it was found in the live database, when its model was opened. */
import type { Field } from '../model.ts'

export interface Column extends Field {
	/** The type's own name in the database, in lower case and without length: `int4`, `varchar`, `datetime`. */
	readonly sqlType: string
	/** The default as SQL, where the database can't be asked for it by the word `default`. */
	readonly defaultSql?: string | undefined
	/** How it holds its values, in the dialect's own words, where the type doesn't say it. */
	readonly storage?: string | undefined
}

export interface Constraint {
	/** As the database's errors call it. */
	readonly name: string
	readonly kind: 'primary' | 'unique' | 'foreign_key' | 'check'
	readonly columns: readonly string[]
}

export interface Table {
	/** `undefined` for the default one. */
	readonly schema: string | undefined
	readonly name: string
	readonly columns: readonly Column[]
	readonly key: string
	readonly constraints: readonly Constraint[]
	/** Whether it can only be read. */
	readonly isView: boolean
	/** Whether its owner's triggers or rules run with an insert; `undefined` where nobody has looked. */
	readonly hasTriggers?: boolean
}
