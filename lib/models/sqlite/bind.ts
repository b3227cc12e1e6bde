/** Values as SQLite stores them: booleans as 0 and 1, timestamps as texts, numbers that it doesn't know as texts. */

import { RawJson } from '../../wire/raw-json.ts'
import type { Value } from '../model.ts'
import { ModelError } from '../model-error.ts'
import type { Column } from '../sql/table.ts'
import { formOf, storedMoment } from './moment.ts'

const LEAST = -(2n ** 63n)
const GREATEST = 2n ** 63n - 1n

/** @throws ModelError `invalid` for an integer beyond 64 bits, and for half a surrogate pair */
export function bound(value: Value, column: Column): unknown {
	switch (typeof value) {
		case 'boolean':
			return value ? 1 : 0
		case 'bigint':
			// The drivers would refuse it, each in its own words.
			if (value < LEAST || value > GREATEST) throw new ModelError('invalid', [column.name])
			return value
		case 'number':
			// SQLite would store null.
			return Number.isNaN(value) ? 'NaN' : value
		case 'string':
			return column.type === 'timestamp'
				? storedMoment(value, formOf(column.storage))
				: wellFormed(value, column)
		default:
			return value instanceof RawJson ? wellFormed(value.text, column) : value
	}
}

/** The same for a value of a cursor, which is as it was stored. */
export function boundAfter(value: Value, column: Column): unknown {
	return column.type === 'timestamp' && typeof value === 'string'
		? wellFormed(value, column)
		: bound(value, column)
}

/** Half of a surrogate pair has no UTF-8, and drivers differ in what they make of it. */
function wellFormed(text: string, { name }: Column): string {
	if (/\p{Surrogate}/u.test(text)) throw new ModelError('invalid', [name])
	return text
}
