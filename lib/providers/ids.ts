/** Records by their `id`, also one of several values, and how many ids go into one request. Called by `resources.ts`. */

/** The `id` of a record. */
export type Identifier = string | number
/** The fields of a key of several. */
export type Key = readonly string[] | undefined

/** The server takes so many values in one condition, comparisons in one filter, and records in one list. */
export const MOST = 100
/** Characters of a URL for the conditions on ids: the client takes 2,000 in all. */
const MOST_LENGTH = 1_500

export function chunks<T>(items: readonly T[], size: number): T[][] {
	return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
		items.slice(at * size, (at + 1) * size),
	)
}

/** As many ids at a time as a URL may have, with their comparisons. */
export function urlChunks(ids: readonly Identifier[], key: Key): Identifier[][] {
	const parts: Identifier[][] = [[]]
	let length = 0
	for (const id of ids) {
		// `&id=7`, or `{"article":{"eq":"7"},"tag":{"eq":"herb"}},` with its signs encoded.
		const text = key === undefined ? String(id) : JSON.stringify(keyIn(id, key))
		const own = encodeURIComponent(text).length + (key === undefined ? 4 : 20 * key.length)
		const last = parts.at(-1) ?? []
		const isFull = length + own > MOST_LENGTH || (last.length + 1) * (key?.length ?? 1) > MOST
		if (isFull && last.length > 0) {
			parts.push([id])
			length = own
		} else {
			last.push(id)
			length += own
		}
	}
	return parts
}

/** The values in an `id` that was made of several. */
export function valuesOf(id: Identifier, key: Key): Identifier | string[] {
	return key === undefined ? id : String(id).split(',').map(decodeURIComponent)
}

/** The fields of the key. */
export function keyIn(id: Identifier, key: Key): Readonly<Record<string, Identifier>> {
	if (key === undefined) return { id }
	const values = [valuesOf(id, key)].flat()
	return Object.fromEntries(key.map((name, at) => [name, values[at] ?? '']))
}

interface Among {
	readonly where: Readonly<Record<string, unknown>>
	readonly filter?: Readonly<Record<string, unknown>>
}

/** The condition to be one of these. */
export function amongst(ids: readonly Identifier[], key: Key): Among {
	if (key === undefined) return { where: { id: ids } }
	return { where: {}, filter: { or: ids.map((id) => keyIn(id, key)) } }
}
