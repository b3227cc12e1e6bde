/** An answer's header lines as an object, for those who take no list. */

/** By lower-case name; a repeated header's values in a list. Without prototype. */
export function linesByName(headers: readonly string[]): Record<string, string | string[]> {
	const lines: Record<string, string | string[]> = Object.create(null)
	for (let at = 0; at < headers.length; at += 2) {
		const name = (headers[at] ?? '').toLowerCase()
		const value = headers[at + 1] ?? ''
		const before = lines[name]
		lines[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
	}
	return lines
}
