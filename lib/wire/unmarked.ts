/**
 * Entity tags without the mark that those of compressed answers have (`reply/compression/tags.ts`): the name of a coding at
 * their end, as in `"5;br"`.
 */

/** All there may be: another instance may have made the tag, by what this one hasn't. */
export const MARKS = ['br', 'zstd', 'gzip'] as const

const MARKED = new RegExp(`;(?:${MARKS.join('|')})"`, 'g')

/** The tags of `If-Match` or `If-None-Match`, as answers that aren't compressed have them: `"5"`. */
export function unmarked(tags: string): string {
	return tags.replaceAll(MARKED, '"')
}
