/** Handler paths as users type them. */

/**
 * The segments of a handler path: `blog/api` and `/blog/api` are the same; '' is the root. Compared with
 * decoded segments of a URL, so nothing in it is percent-encoded.
 *
 * @throws TypeError for an empty segment, a dot segment, and characters that no path segment should have
 */
export function parsePath(what: string, path: unknown): string[] {
	if (typeof path !== 'string') throw new TypeError(`${what} must be a string, got ${typeof path}`)
	if (path === '' || path === '/') return []
	const inner = path.replace(/^\//, '').replace(/\/$/, '')
	const segments = inner.split('/')
	for (const segment of segments) {
		if (segment === '') throw new TypeError(`${what} ${JSON.stringify(path)} has an empty segment`)
		if (segment === '.' || segment === '..')
			throw new TypeError(
				`${what} ${JSON.stringify(path)} has a dot segment, which clients resolve before they ask`,
			)
		if (/[?#%\\\x00-\x20\x7f]/.test(segment))
			throw new TypeError(
				`${what} ${JSON.stringify(path)} may not hold ?, #, %, \\, blanks or control characters`,
			)
	}
	return segments
}
