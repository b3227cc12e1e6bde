/** Names as PostgreSQL's identifiers. */

/** A name as an identifier, whatever it holds; there is no NUL in the names of a catalog. */
export function quoteName(name: string): string {
	return `"${name.replaceAll('"', '""')}"`
}
