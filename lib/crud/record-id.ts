/**
 * Ids of a `CrudHandler`'s records: checked by the types of the key, completed by what the scope fixes of a key of several
 * fields, and written as a segment of a URL.
 */
import { NOT_FOUND } from '../base/error.ts'
import { keyText } from '../models/key.ts'
import { joinId, segmentValues, splitId } from '../wire/record-id.ts'
import type { CrudField } from './fields.ts'
import type { CrudPlan } from './plan.ts'
import type { Scope } from './scope.ts'
import { idReader } from './value-from-text.ts'

/** Returns the canonical form of a value of the key; `undefined` for a text that can't be one. */
export type KeyReader = (text: string) => string | undefined

/** Returns a function that checks an id of the whole key, and returns it in canonical form. */
export function idParser(readers: readonly KeyReader[]): KeyReader {
	const [only] = readers
	if (only !== undefined && readers.length === 1) return only
	return (id) => {
		const values = splitId(id, readers.length)
		return values && joined(values, readers)
	}
}

function joined(values: readonly string[], readers: readonly KeyReader[]): string | undefined {
	const texts: string[] = []
	for (const [at, value] of values.entries()) {
		const text = readers[at]?.(value)
		if (text === undefined) return undefined
		texts.push(text)
	}
	return joinId(texts)
}

/** A reader for each field of the key. Only a key of one text must be a segment that clients don't resolve. */
export function keyReaders(keys: readonly CrudField[]): KeyReader[] {
	return keys.map(({ field }) => idReader(field, keys.length === 1))
}

/**
 * The id of the whole key. What the scope fixes of a key of several fields may be left out of `id`.
 *
 * @throws RestError `not_found` for a text that can't be an id
 */
export function wholeId({ keys, keyReaders, idOf }: CrudPlan, id: string, { fixed, terms }: Scope): string {
	const whole = idOf(id)
	if (whole !== undefined) return whole
	const free = keys.filter(({ field }) => !fixed.has(field.name))
	const given = free.length < keys.length ? segmentValues(id) : undefined
	if (given?.length !== free.length) throw NOT_FOUND
	const values = keys.map((key) => {
		if (!fixed.has(key.field.name)) return given[free.indexOf(key)] ?? ''
		const [value] = terms.find(({ field }) => field === key)?.values ?? []
		return keyText(value, key.field.type)
	})
	const completed = joined(values, keyReaders)
	if (completed === undefined) throw NOT_FOUND
	return completed
}

/** The segment of a record's URL. What the scope fixes of a key of several fields is left out. */
export function idSegment({ keys }: CrudPlan, id: string, { fixed }: Scope): string {
	if (keys.length === 1) return encodeURIComponent(id)
	const free = id.split(',').filter((_, at) => !fixed.has(keys[at]?.field.name ?? ''))
	return free.length === 0 ? id : free.join()
}
