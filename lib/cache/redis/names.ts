/** Texts as names that Redis can have: UTF-8 has no bytes for some that JavaScript has. */

/** A key, or a part of one, so that no two are written alike. */
export function said(key: string): string {
	return UNSAYABLE.test(key) ? MARK + Buffer.from(key, 'utf16le').toString('hex') : key
}

/** What stands before a key that UTF-8 can't say. */
const MARK = '\0utf16:'

/**
 * Half a surrogate pair, which as UTF-8 would be U+FFFD, and one entry with every other half; and what looks like
 * a key that was written otherwise because of it, or that isn't an entry's.
 */
const UNSAYABLE = /^\0|\p{Surrogate}/u
