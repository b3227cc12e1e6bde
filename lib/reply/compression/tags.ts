/**
 * ETags of compressed answers. A coding makes other bytes of the same, so that a strong tag needs another name for each
 * (RFC 9110 §8.8.3.3): `"5"` goes out as `"5;br"`, and comes back as `"5"` to whoever compares it. A weak one in its
 * place would be lost for `If-Match`, which nothing weak can match (§13.1.1).
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Coding } from './codings.ts'

/** Every coding that a tag can name: another instance may support one that this one doesn't. */
const MARKS = ['br', 'zstd', 'gzip'] as const

const MARKED = new RegExp(`;(?:${MARKS.join('|')})"`, 'g')

/** The tags of `If-Match` or `If-None-Match` as in uncompressed answers: `"5"` for `"5;br"`. */
export function unmarked(tags: string): string {
	return tags.replaceAll(MARKED, '"')
}

/** The tag of an answer's compressed form; a weak one stands for both. */
export function markedTag(tag: string, { name }: Pick<Coding, 'name'>): string {
	return /^".*"$/.test(tag) ? `${tag.slice(0, -1)};${name}"` : tag
}

/**
 * Takes the marks off the tags that a request names. `If-Range` keeps them: a part of what is not compressed can't be
 * put behind a part of what is.
 */
export function unmarkTags(headers: IncomingHttpHeaders): void {
	const { 'if-match': match, 'if-none-match': noneMatch } = headers
	if (match !== undefined) headers['if-match'] = unmarked(match)
	if (noneMatch !== undefined) headers['if-none-match'] = unmarked(noneMatch)
}

/**
 * The tag of a 304, in the form in which the client has it: what it keeps under another name it would not freshen
 * (RFC 9111 §4.3.4).
 *
 * @param named `If-None-Match` as it was sent
 * @param chosen the coding that a whole answer would have
 */
export function namedTag(tag: string, named: string, chosen: Coding | undefined): string {
	const forms = [...(chosen === undefined ? [] : [markedTag(tag, chosen)]), tag]
	for (const name of MARKS) forms.push(markedTag(tag, { name }))
	return forms.find((form) => named.includes(form)) ?? tag
}
