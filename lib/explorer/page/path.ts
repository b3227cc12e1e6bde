/** URLs that are paths of this server. */

/**
 * Whether a URL is a path of this server. Two slashes at the beginning, or a slash and a backslash, would name another
 * host.
 */
export function isPath(url: string): boolean {
	return /^\/(?![/\\])[^\s<>"\\?#]*(?:[?#][^\s<>"]*)?$/.test(url)
}

/** Without the query. */
export function pathOf(url: string): string {
	return url.split('?', 1)[0] ?? url
}
