/**
 * The `; name=value` list that Content-Type (RFC 9110 §5.6.6) and Content-Disposition (RFC 2183 §2) share.
 * The two differ only in how a quoted value is read, which the caller brings along.
 */

/**
 * Reads the parameters of a header value from `at`, where the first `;` stands, to its end. Names arrive
 * in lower case; values that stand in quotes through `unquote`, which gets what is between them. White
 * space beside a `;` and empty parameters are allowed (RFC 9110 §5.6.6), white space beside `=` is not.
 *
 *     parseParameters('text/plain; charset=utf-8', 10, unquote)   // Map { 'charset' => 'utf-8' }
 *
 * `mayBeEmpty` names a parameter that may have nothing behind its `=`, which no grammar allows: it arrives as ''.
 *
 * Takes time in proportion to the length. Answers `undefined` when the list is malformed, or names a
 * parameter twice: two readers could then see different boundaries in one body.
 */
export function parseParameters(
	text: string,
	at: number,
	unquote: (raw: string) => string,
	mayBeEmpty?: string,
): Map<string, string> | undefined {
	const found = new Map<string, string>()
	if (CONTROL.test(text)) return undefined
	// Written here, so that each call has its own: a sticky expression keeps its place between calls.
	// Tokens as in RFC 9110 §5.6.2. No text fits in two ways, so that a match is linear.
	const parameter =
		/[\t ]*;[\t ]*(?:([!#$%&'*+.^`|~\w-]+)=(?:([!#$%&'*+.^`|~\w-]+)|"((?:[^"\\]|\\.)*)")?)?[\t ]*/sy
	parameter.lastIndex = at
	while (parameter.lastIndex < text.length) {
		const match = parameter.exec(text)
		if (match === null) return undefined
		const [, name, token, quoted] = match
		if (name === undefined) continue
		const key = name.toLowerCase()
		if (found.has(key)) return undefined
		if (token === undefined && quoted === undefined && key !== mayBeEmpty) return undefined
		found.set(key, token ?? unquote(quoted ?? ''))
	}
	return found
}

/** Not even a quoted value may have these (RFC 9110 §5.6.4): all but the tab. */
const CONTROL = /[\0-\x08\n-\x1f\x7f]/
