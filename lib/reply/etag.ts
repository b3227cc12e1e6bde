/**
 * ETags (RFC 9110 §8.8.3): making them, comparing them with `If-Match` and `If-None-Match`, and the suffix of a compressed
 * form's tag. For `compression/compress.ts`, for records (`crud/preconditions.ts`), and for the document of `openapi/`.
 *
 * A coding changes the bytes, so each compressed form needs a strong ETag of its own (§8.8.3.3): `"5"` is sent as
 * `"5;br"`, and the suffix is removed from the tags of requests before they are compared. A weak tag would be useless:
 * `If-Match` matches no weak tags (§13.1.1).
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Coding } from './compression/codings.ts'

/** The entity tags of a header, `*` for any. */
type Tags = '*' | readonly string[]

/** `If-Match` and `If-None-Match` of a request. */
export interface Conditions {
	readonly match: Tags | undefined
	readonly noneMatch: Tags | undefined
}

const TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g
/** A list, with the empty elements that RFC 9110 §5.6.1 allows. */
const TAGS =
	/^[ \t]*(?:,[ \t]*)*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*(?:,[ \t]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*)?)*$/

/** The ETag of a version: strong, so every change must make another version. */
export function etagOf(version: string): string {
	return `"${version}"`
}

/**
 * The tags of `If-Match` and `If-None-Match`; `undefined` without either. Tags of `If-Match` lose their compression
 * suffix, because the version is the same whether or not this instance compresses. Those of `If-None-Match` keep it: a
 * 304 confirms the exact bytes that the client has.
 */
export function conditionsOf(headers: IncomingHttpHeaders): Conditions | undefined {
	const match = headers['if-match']
	const noneMatch = headers['if-none-match']
	if (match === undefined && noneMatch === undefined) return undefined
	return { match: tagsOf(match && withoutSuffixes(match)), noneMatch: tagsOf(noneMatch) }
}

/** A malformed list counts as empty, so that nothing matches it, and a change is refused. */
function tagsOf(header: string | undefined): Tags | undefined {
	if (header === undefined) return undefined
	if (header.trim() === '*') return '*'
	return TAGS.test(header) ? (header.match(TAG) ?? []) : []
}

/**
 * Whether `If-Match` matches a resource that exists, by strong comparison (§8.8.3.2). Without a version, the resource has no
 * ETag, and only `*` matches.
 */
export function isStronglyMatched(tags: Tags, version: string | undefined): boolean {
	return tags === '*' || (version !== undefined && tags.includes(etagOf(version)))
}

/** Whether `If-None-Match` matches a resource that exists, by weak comparison. */
export function isWeaklyMatched(tags: Tags, version: string | undefined): boolean {
	if (tags === '*') return true
	return version !== undefined && tags.some((tag) => tag.replace(/^W\//, '') === etagOf(version))
}

/** Every suffix that a tag can have: another process may support a coding that this one doesn't. */
const SUFFIXES = ['br', 'zstd', 'gzip'] as const

const SUFFIXED = new RegExp(`;(?:${SUFFIXES.join('|')})"`, 'g')

/** The tags of `If-Match` or `If-None-Match` as in uncompressed replies: `"5"` for `"5;br"`. */
function withoutSuffixes(tags: string): string {
	return tags.replaceAll(SUFFIXED, '"')
}

/** The tag of a reply's compressed form; a weak tag is the same for both forms. */
export function suffixedTag(tag: string, { name }: Pick<Coding, 'name'>): string {
	return /^".*"$/.test(tag) ? `${tag.slice(0, -1)};${name}"` : tag
}

/**
 * Removes the suffixes from the tags of a request. `If-Range` keeps them: a range of the uncompressed form can't be appended
 * to one of the compressed form.
 */
export function removeSuffixes(headers: IncomingHttpHeaders): void {
	const { 'if-match': match, 'if-none-match': noneMatch } = headers
	if (match !== undefined) headers['if-match'] = withoutSuffixes(match)
	if (noneMatch !== undefined) headers['if-none-match'] = withoutSuffixes(noneMatch)
}

/**
 * The tag of a 304, in the form that the client has stored: with another tag, the client would not update what it has
 * stored (RFC 9111 §4.3.4).
 *
 * @param named `If-None-Match` as it was sent
 * @param chosen the coding that a 200 would have
 */
export function tagOf304(tag: string, named: string, chosen: Coding | undefined): string {
	const forms = [...(chosen === undefined ? [] : [suffixedTag(tag, chosen)]), tag]
	for (const name of SUFFIXES) forms.push(suffixedTag(tag, { name }))
	return forms.find((form) => named.includes(form)) ?? tag
}
