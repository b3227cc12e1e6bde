/** Tokens: how one is made, and the digest that is kept of it in its place. For programs, and `TokenAuthenticator`. */
import { createHash, randomBytes } from 'node:crypto'

/** A token, shown once to whoever will send it, and what the server keeps of it. */
export interface NewToken {
	/** The prefix and 43 characters of base64url: 256 random bits. */
	readonly token: string
	/** Its SHA-256 digest: 64 hex digits in lower case. */
	readonly digest: string
}

/** Longest token, in characters: what is hashed for a stranger is bounded. */
export const LONGEST_TOKEN = 1_024

/** Visible ASCII: what a header can carry, unchanged and in one piece. */
const TOKEN = /^[\x21-\x7e]+$/
const PREFIX = /^[\w.~-]{0,32}$/

/**
 * Makes a token of 256 random bits. A prefix of your own (`acme_`) lets secret scanners find a token that was
 * published by mistake, and tell whose it is.
 *
 *     newToken('acme_')   // { token: 'acme_3q2-7w…', digest: '9f86d0…' }
 *
 * @throws TypeError for a prefix of anything but up to 32 letters, digits and `_ - . ~`
 */
export function newToken(prefix = ''): NewToken {
	if (typeof prefix !== 'string' || !PREFIX.test(prefix)) {
		throw new TypeError("the prefix of a token must be up to 32 letters, digits and _ - . ~: 'acme_'")
	}
	const token = `${prefix}${randomBytes(32).toString('base64url')}`
	return { token, digest: tokenDigest(token) }
}

/**
 * The SHA-256 digest of a token, as `TokenAuthenticator` looks it up: 64 hex digits in lower case. Without salt
 * and fast, which is right for random tokens and for nothing that people can remember.
 *
 * @throws TypeError for anything but 1 to 1,024 visible ASCII characters
 */
export function tokenDigest(token: string): string {
	// `tokenDigest(process.env.TOKEN)` without that variable must not let somebody in by a token of 'undefined'.
	if (!isToken(token)) {
		throw new TypeError('a token must be text of 1 to 1,024 visible ASCII characters, without spaces')
	}
	return createHash('sha256').update(token).digest('hex')
}

/** Whether a text can be a token, whatever it is sent in. */
export function isToken(text: unknown): text is string {
	return typeof text === 'string' && text.length <= LONGEST_TOKEN && TOKEN.test(text)
}
