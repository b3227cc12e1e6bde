/**
 * Ids of records. If the key has several fields, the id is their values, percent-encoded and joined by commas (`7,herb`),
 * and is a URL segment as it is. If it has one field, the id is the value's text, not encoded.
 */

/** The id of a record with these key values, in the order of the key. */
export function joinId(values: readonly string[]): string {
	const [only] = values
	return values.length === 1 && only !== undefined ? only : values.map(encodeURIComponent).join(',')
}

/** The values in an id; `undefined` if it doesn't have `count` values, or one is malformed. */
export function splitId(id: string, count: number): readonly string[] | undefined {
	if (count === 1) return [id]
	const values = segmentValues(id)
	return values?.length === count ? values : undefined
}

/** The values in a segment of a URL; `undefined` for a malformed escape. */
export function segmentValues(segment: string): readonly string[] | undefined {
	try {
		return segment.split(',').map(decodeURIComponent)
	} catch {
		return undefined
	}
}
