/** Ids of a `CrudHandler`'s records, without what the scope fixes of a key of several fields. Used by `store.ts`. */
import { NOT_FOUND } from '../base/error.ts'
import { keyText } from '../models/key.ts'
import { joinId, segmentValues } from '../wire/record-id.ts'
import type { CrudPlan } from './plan.ts'
import type { Scope } from './scope.ts'

/**
 * The id of the whole key. What the scope fixes of a key of several fields may be left out of `id`.
 *
 * @throws RestError `not_found` for a text that can't be an id
 */
export function wholeId({ keys, idOf }: CrudPlan, id: string, { fixed, terms }: Scope): string {
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
	const completed = idOf(joinId(values))
	if (completed === undefined) throw NOT_FOUND
	return completed
}

/** The segment of a record's URL. What the scope fixes of a key of several fields is left out. */
export function idSegment({ keys }: CrudPlan, id: string, { fixed }: Scope): string {
	const free = id.split(',').filter((_, at) => !fixed.has(keys[at]?.field.name ?? ''))
	const segment = free.join()
	// Clients resolve `.` and `..`, and without a segment it is the URL of the list.
	return /^\.{0,2}$/.test(segment) ? id : segment
}
