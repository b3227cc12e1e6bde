/** `MemoryModel`: records in memory, for tests, prototypes and examples. */
import {
	flag,
	listOf,
	nested,
	numberIn,
	optionsOf,
	or,
	type Readers,
	text,
	unchecked,
} from '../../base/options.ts'
import type { Seconds } from '../../base/time.ts'
import type { FieldType, Values } from '../model.ts'
import { ModelError } from '../model-error.ts'
import { fieldsOf, type MemoryField } from './declared.ts'
import { LayerModel } from './layer-model.ts'
import { recordsOf } from './links.ts'
import { Store } from './store.ts'
import { insert } from './write.ts'

function reasonOf(error: unknown): string {
	if (error instanceof ModelError) return `${error.kind} (${error.fields.join(', ')})`
	return error instanceof Error ? error.message : String(error)
}

/** The fields, constraints and first records of a `MemoryModel`. */
export interface MemoryModelOptions {
	/** The fields by name, each a type, or an object with `type` and more: `{ type: 'text', maxLength: 200 }`. */
	readonly fields: Readonly<Record<string, FieldType | MemoryField>>
	/**
	 * The key field, or several that identify a record together; `[]` if none does: then the records can only be listed. A
	 * new record gets the next number (`integer`, `bigint`) or a random uuid as its key unless one is given; any other key,
	 * and one of several fields, must always be given.
	 */
	readonly key: string | readonly string[]
	/** Unique constraints, each a list of fields: `[['email'], ['author', 'slug']]`. @default none */
	readonly unique?: readonly (readonly string[])[]
	/**
	 * Foreign keys: a field, or a list of them, with the key of another model, or of this one (`'itself'`).
	 *
	 * @default none
	 */
	readonly references?: readonly {
		readonly field: string | readonly string[]
		readonly model: MemoryModel | 'itself'
	}[]
	/** The first records. Timestamps and dates may be a Date, `json` any value that JSON can represent. @default none */
	readonly rows?: readonly Readonly<Record<string, unknown>>[]
	/** Whether records can't be changed, as in a view. @default false */
	readonly readOnly?: boolean
	/** How long a change waits for an open transaction. @default 5 */
	readonly timeoutSeconds?: Seconds
}

const reference = nested("{ field: 'authorId', model: authors }", {
	field: (where, value) =>
		typeof value === 'string' ? value : listOf('a field or a list of fields', text)(where, value),
	model: unchecked<MemoryModel | 'itself'>,
} satisfies Readers<NonNullable<MemoryModelOptions['references']>[number]>)

/**
 * Records in memory, without a limit, and lost when the process ends.
 *
 *     const articles = new MemoryModel('article', {
 *       fields: { id: 'integer', title: { type: 'text', maxLength: 200 } },
 *       key: 'id',
 *       rows: [{ title: 'First' }],
 *     })
 *
 * Texts are compared by code point, so case counts. Changes run one at a time. While a transaction is open, other changes
 * wait, including those that its `work` makes on the model itself instead of the model that it is passed.
 *
 * @throws TypeError for wrong options: an unknown type, a key that isn't a field, rows that don't fit
 * @throws RangeError when `timeoutSeconds` isn't above 0
 */
export class MemoryModel extends LayerModel {
	constructor(name: string, options: MemoryModelOptions) {
		const place = `MemoryModel '${name}'`
		const { fields, key, unique, references, rows, readOnly, timeoutSeconds } = optionsOf(place, options, {
			fields: unchecked<MemoryModelOptions['fields']>,
			key: unchecked<string | readonly string[]>,
			unique: or(listOf("a list of lists: [['email']]", listOf('a list of fields', text), 0), []),
			references: or(listOf('a list', reference, 0), []),
			rows: or(listOf('a list of records', unchecked<Readonly<Record<string, unknown>>>, 0), []),
			readOnly: or(flag, false),
			timeoutSeconds: or(numberIn({ above: 0, to: 86_400 }), 5),
		})
		const keys = typeof key === 'string' ? [key] : key
		const identifying = [keys, ...unique, ...references.map(({ field }) => field)].flat()
		const store = new Store(place, fieldsOf(place, fields, keys, identifying), keys, unique)
		super(name, store, store.layer, readOnly, timeoutSeconds)
		for (const { field, model } of references) {
			const own = model === 'itself' ? { store } : model instanceof LayerModel && recordsOf(model)
			if (!own) throw new TypeError(`${place}: references of ${field} need model: a MemoryModel, or 'itself'`)
			store.refer([field].flat(), own.store)
		}
		for (const [index, row] of rows.entries()) {
			try {
				// `insert` checks that each value is a `Value`.
				insert(row as Values, store, store.layer)
			} catch (cause) {
				throw new TypeError(`${place}: rows[${index}] doesn't fit: ${reasonOf(cause)}`, { cause })
			}
		}
	}
}
