/** Names and texts as SQL that means the same in every `sql_mode`. */

/** A name as an identifier. */
export function quoteName(name: string): string {
	return `\`${name.replaceAll('`', '``')}\``
}

/**
 * A text of ours as a literal. Backslashes escape or don't, by NO_BACKSLASH_ESCAPES, and what isn't ASCII
 * is read in the session's character set: such texts are written as bytes.
 */
export function literal(text: string): string {
	if (/^[\x20-\x5b\x5d-\x7e]*$/.test(text)) return `'${text.replaceAll("'", "''")}'`
	return `_utf8mb4 x'${Buffer.from(text).toString('hex')}'`
}
