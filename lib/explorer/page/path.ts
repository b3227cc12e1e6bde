/** URLs that are paths of this server. */
import { segmentValues } from '../../wire/record-id.ts'

/**
 * Whether a URL is a path of this server. Two slashes at the beginning, or a slash and a backslash, would name another
 * host.
 */
export function isPath(url: string): boolean {
	return /^\/(?![/\\])[^\s<>"\\?#]*(?:[?#][^\s<>"]*)?$/.test(url)
}

/**
 * Encodes the text typed for a param as a path segment. The values of a list are encoded one by one; a comma within a value
 * must be typed as in URLs: `8,a%2Cb`.
 */
export function segmentOf(typed: string, isList: boolean): string {
	if (!isList) return encodeURIComponent(typed)
	const values = segmentValues(typed) ?? typed.split(',')
	return values.map(encodeURIComponent).join()
}

/** Without the query. */
export function pathOf(url: string): string {
	return url.split('?', 1)[0] ?? url
}
