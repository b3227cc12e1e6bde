/** Which versions there are where a path asks for another one: the message of a 404 says so. */

/** Of a version that nobody has in earnest the message would be as long as what was sent. */
const VERSION = /^v\d{1,9}$/

/**
 * `There is no version v9 here: v1, v2`; `undefined` where the segment is no version, or has no others beside it.
 *
 * @param segment what was asked for
 * @param others the segments that lead to handlers in its place
 */
export function unknownVersion(segment: string, others: Iterable<string>): string | undefined {
	if (!VERSION.test(segment)) return undefined
	const versions = [...others].filter((other) => VERSION.test(other))
	if (versions.length === 0) return undefined
	versions.sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)))
	return `There is no version ${segment} here: ${versions.join(', ')}`
}
