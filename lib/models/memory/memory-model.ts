/** `MemoryModel`: records in memory, for tests, prototypes and examples. */
import { nearest } from '../../base/options.ts'
import type { Seconds } from '../../base/time.ts'
import type { FieldType } from '../model.ts'
import { fieldsOf, type MemoryField } from './declared.ts'
import { LayerModel } from './layer-model.ts'
import { Store } from './store.ts'

/** The table that a `MemoryModel` is: its fields, what must hold among its records, and the first of them. */
export interface MemoryModelOptions {
	/** The fields by name, each a type, or an object with `type` and more: `{ type: 'text', maxLength: 200 }`. */
	readonly fields: Readonly<Record<string, FieldType | MemoryField>>
	/**
	 * The field that tells records apart. New records get the next number (`integer`, `bigint`) or a random one
	 * (`uuid`) unless they bring their own; a `text` is always given.
	 */
	readonly key: string
	/**
	 * Fields whose values, taken together, only one record may have: `[['email'], ['author', 'slug']]`.
	 *
	 * @default none
	 */
	readonly unique?: readonly (readonly string[])[]
	/** Fields that hold a key of another model, or of this one: `'itself'`. @default none */
	readonly references?: readonly { readonly field: string; readonly model: MemoryModel | 'itself' }[]
	/** The first records. Timestamps and dates may be a Date, `json` any value that JSON can say. @default none */
	readonly rows?: readonly Readonly<Record<string, unknown>>[]
	/** Whether `rows` are all there will ever be, as in a view. @default false */
	readonly readOnly?: boolean
	/** How long a change waits for a transaction that is under way. @default 5 */
	readonly timeoutSeconds?: Seconds
}

/**
 * Records in memory, bounded by nothing but memory, and gone with the process.
 *
 *     const articles = new MemoryModel('article', {
 *       fields: { id: 'integer', title: { type: 'text', maxLength: 200 } },
 *       key: 'id',
 *       rows: [{ title: 'First' }],
 *     })
 *
 * Texts are compared by code point, so that case counts. Changes are made one after the other; a transaction
 * makes those of others wait, its own work's too where it asks the model instead of the one it is given.
 *
 * @throws TypeError for options that can't be: an unknown type, a key that is no field, rows that don't fit
 * @throws RangeError when `timeoutSeconds` isn't above 0
 */
export class MemoryModel extends LayerModel {
	readonly #store: Store

	constructor(name: string, options: MemoryModelOptions) {
		const place = `MemoryModel '${name}'`
		checkOptions(place, options)
		const { fields: declared, key, references = [], rows = [], readOnly = false } = options
		const fields = fieldsOf(place, declared, key)
		const store = new Store(place, fields, key, options.unique ?? [])
		super(name, store, store.layer, readOnly, options.timeoutSeconds ?? 5)
		this.#store = store
		for (const { field, model } of references) {
			if (model !== 'itself' && !isMemoryModel(model)) {
				throw new TypeError(`${place}: references of ${field} need model: a MemoryModel, or 'itself'`)
			}
			store.refer(field, model === 'itself' ? store : model.#store)
		}
		this.fill(rows)
	}
}

function checkOptions(place: string, options: MemoryModelOptions): void {
	const names = ['fields', 'key', 'unique', 'references', 'rows', 'readOnly', 'timeoutSeconds']
	const unknown = Object.keys(options).find((name) => !names.includes(name))
	if (unknown !== undefined)
		throw new TypeError(`${place} has no option ${unknown}${nearest(unknown, names)}`)
	const { timeoutSeconds = 5 } = options
	if (!(timeoutSeconds > 0 && timeoutSeconds <= 86_400)) {
		throw new RangeError(`${place}: timeoutSeconds must be above 0 and at most 86400, got ${timeoutSeconds}`)
	}
}

// Not within the class: one that names itself is called something else where it is bundled.
function isMemoryModel(model: unknown): model is MemoryModel {
	return model instanceof MemoryModel
}
