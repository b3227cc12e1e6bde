/** Ids of records: for clients, composite keys lack the fields that the scope fixes. Used by `reads.ts` and `many/`. */
import { NOT_FOUND, RestError } from '../base/error.ts'
import { keyText } from '../models/key.ts'
import { joinId, segmentValues } from '../wire/record-id.ts'
import type { CrudPlan } from './plan.ts'
import type { Scope } from './scope.ts'

/**
 * Identifies a record: its id as in the URL, or the value of its key; for a key of several fields a list in their order,
 * `[7, 'herb']`, without those that the scope fixes if you like.
 */
export type CrudId = KeyValue | readonly KeyValue[]
type KeyValue = string | number | bigint

/**
 * The id of the whole key. `id` may lack the fields of a composite key that the scope fixes.
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

/** The id in a record's URL: a composite key without the fields that all of these scopes fix. */
export function idSegment({ keys }: CrudPlan, id: string, scopes: readonly Scope[]): string {
	const free = freePart(keys, id, ({ field }) => !scopes.every(({ fixed }) => fixed.has(field.name)))
	// Not an empty segment, nor one that clients would resolve.
	return /^\.{0,2}$/.test(free) ? id : free
}

/** An id in a body: without the fields that the scope fixes, if one of the key is hidden. */
export function shownId({ keys, isKeyVisible }: CrudPlan, id: string, { fixed }: Scope): string {
	return isKeyVisible ? id : freePart(keys, id, ({ field }) => !fixed.has(field.name))
}

function freePart(
	keys: CrudPlan['keys'],
	id: string,
	isFree: (key: CrudPlan['keys'][number]) => boolean,
): string {
	const values = id.split(',')
	return values.filter((_, at) => keys[at] !== undefined && isFree(keys[at])).join()
}

/**
 * The fields by which a body names a record of a list: all of the key, or those that the scope doesn't fix.
 *
 * @throws RestError `forbidden` if one of them is hidden
 */
export function namingKeys({ keys, visible }: CrudPlan, { fixed }: Scope): CrudPlan['keys'] {
	const free = keys.filter(({ field }) => !fixed.has(field.name))
	const naming = keys.length === 1 || free.length === 0 ? keys : free
	if (naming.some(({ name }) => !visible.has(name))) throw new RestError('forbidden')
	return naming
}

/** @throws TypeError if clients can never name the records of an operation: their key is hidden */
export function checkNaming({ owner, allow, keys, visible }: CrudPlan, isScoped: boolean): void {
	const operation = (['updateMany', 'removeMany'] as const).find((name) => allow.has(name))
	const hidden = keys.filter(({ name }) => !visible.has(name)).map(({ name }) => name)
	const isFixed = isScoped && keys.length > 1 && hidden.length < keys.length // the scope may fix the hidden ones
	if (operation === undefined || hidden.length === 0 || isFixed) return
	throw new TypeError(`${owner}: allow has ${operation}, but visible lacks ${hidden.join(', ')}, of the key`)
}
