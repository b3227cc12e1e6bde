/** Ids of records, also those of several values, and how many fit into one request. Called by `resources.ts`. */

/** The `id` of a record. */
export type Identifier = string | number
/** The fields of a key that has several; `undefined` for the key `id`. */
export type Key = readonly string[] | undefined

/** The server's maximum of values in a condition, of comparisons in a filter, and of records in a list. */
export const MOST = 100
/** Maximum length of the conditions on ids in a URL: the client's limit for the URL is 2,000 characters. */
const MOST_LENGTH = 1_500

export function chunks<T>(items: readonly T[], size: number): T[][] {
	return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
		items.slice(at * size, (at + 1) * size),
	)
}

/** Splits ids into chunks whose conditions fit into one URL. */
export function urlChunks(ids: readonly Identifier[], key: Key): Identifier[][] {
	const parts: Identifier[][] = [[]]
	let length = 0
	for (const id of ids) {
		// `&id=7`, or `{"article":{"eq":"7"},"tag":{"eq":"herb"}},` percent-encoded.
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

/** The values of an `id` of several, `7,herb`; any other id as it is. */
export function valuesOf(id: Identifier, key: Key): Identifier | string[] {
	return key === undefined ? id : String(id).split(',').map(decodeURIComponent)
}

/** The key's fields with their values: `{ article: '7', tag: 'herb' }`. */
export function keyIn(id: Identifier, key: Key): Readonly<Record<string, Identifier>> {
	if (key === undefined) return { id }
	const values = [valuesOf(id, key)].flat()
	return Object.fromEntries(key.map((name, at) => [name, values[at] ?? '']))
}

interface Among {
	readonly where: Readonly<Record<string, unknown>>
	readonly filter?: Readonly<Record<string, unknown>>
}

/** The condition for records with these ids. */
export function amongst(ids: readonly Identifier[], key: Key): Among {
	if (key === undefined) return { where: { id: ids } }
	return { where: {}, filter: { or: ids.map((id) => keyIn(id, key)) } }
}
