/** What a request may ask of the mount that serves it. */
import type { Acl, Authenticator } from '../auth/authenticator.ts'

/**
 * Whose requests with an `Idempotency-Key` are run once: those of a `'user'`, others being refused; those of
 * `'anyone'`; or nobody's, the header being left to the methods (`'off'`).
 */
export type IdempotencyKeys = 'user' | 'anyone' | 'off'

export interface MountFacts {
	/** The handler path's segments, decoded. */
	readonly path: readonly string[]
	/** Class name of the handler, for logs. */
	readonly name: string
	/** Whether answers are in the envelope. */
	readonly wrap: boolean
	/** Whether the logger is left alone. */
	readonly silent: boolean
	readonly authenticator: Authenticator | undefined
	readonly acl: Acl | undefined
	/** For whom an Idempotency-Key is kept. */
	readonly idempotencyKeys: IdempotencyKeys
	/** Header lines by which every answer tells of the handler's end; names and values in turn. */
	readonly deprecation: readonly string[] | undefined
}
