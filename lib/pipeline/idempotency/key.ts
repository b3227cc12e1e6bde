/** The `Idempotency-Key` of a request (draft-ietf-httpapi-idempotency-key-header-07), and what it is kept under. */

import { RestError } from '../../base/error.ts'
import { sharedKey } from '../../cache/shares.ts'

/** The draft's form: an `sf-string` of RFC 9651 §3.3.3. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
/** What many clients send instead: a UUID or another token, without quotes. */
const BARE = /^[\w.~:@/+=-]+$/
const MOST_CHARACTERS = 255

/**
 * The key in the header's lines.
 *
 * @throws RestError `bad_request` for anything but one key of 1 to 255 characters
 */
export function keyOf(lines: readonly string[]): string {
	const [line = ''] = lines
	const text = lines.length === 1 ? line.trim() : ''
	const key = BARE.test(text) ? text : QUOTED.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1')
	if (key !== undefined && key !== '' && key.length <= MOST_CHARACTERS) return key
	throw new RestError(
		'bad_request',
		`The Idempotency-Key must be one key of 1 to ${MOST_CHARACTERS} characters, as in "8e03978e-40d5-43e8-bc93-6894a57f9324"`,
	)
}

/** What a key counts for: another user's, another method's or another path's key of the same name is another. */
export interface Scope {
	/** `null` where nobody is known. */
	readonly user: string | null
	readonly method: string
	readonly path: string
	readonly key: string
}

/**
 * The cache's key; without a word of what the client has sent.
 *
 * @param share whose part of the cache it takes
 */
export async function cacheKeyOf(share: string, { user, method, path, key }: Scope): Promise<string> {
	return sharedKey('idempotency', share, await sha256(JSON.stringify([user, method, path, key])))
}

/** What a request is told by, beside its key: the same key with another request is a mistake. */
export interface Asked {
	readonly method: string
	readonly target: string
	readonly contentType: string | undefined
	readonly bytes: Uint8Array
}

export async function fingerprintOf({ method, target, contentType, bytes }: Asked): Promise<string> {
	const head = `${JSON.stringify([method, target, contentType ?? null])}\n`
	return sha256(Buffer.concat([Buffer.from(head), bytes]))
}

// The global crypto: the module costs every start some milliseconds, and most servers never get here.
async function sha256(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
	const bytes = typeof data === 'string' ? Buffer.from(data) : data
	return Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('base64url')
}
