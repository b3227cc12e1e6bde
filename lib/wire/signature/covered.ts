/** What a signature has to cover besides a body: one list for the server, which demands it, and the client, which signs it. */

/** Parts of the target (RFC 9421 §2.2); `@target-uri` stands for all three. */
export const TARGET: readonly string[] = ['@authority', '@path', '@query']

/** Fields that change what a request does: whoever adds one to a signed request must not be heard. */
export const WHEN_SENT: readonly string[] = ['x-http-method-override', 'idempotency-key', 'if-match']

/** Most characters of a key's id, and of a nonce: what is looked up, kept and logged for a stranger is bounded. */
export const LONGEST_NAME = 128
