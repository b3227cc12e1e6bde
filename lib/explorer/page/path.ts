/** Paths of this server, as URLs. */

/**
 * Whether a URL is a path of this server. Two slashes, or a backslash for one, would name another; in a query a
 * backslash is like any other character.
 */
export function isPath(url: string): boolean {
	return /^\/(?![/\\])[^\s<>"\\?#]*(?:[?#][^\s<>"]*)?$/.test(url)
}

/** Without the query. */
export function pathOf(url: string): string {
	return url.split('?', 1)[0] ?? url
}
