/** The `Acl` interface: what a user may do. */
import type { User } from './authenticator.ts'

/**
 * Decides whether a user may use a resource, by its name (`'article:write'`). Synchronous, so that a
 * forgotten `await` can't open a hole; what it needs (roles) comes with the user.
 */
export interface Acl {
	allows(user: User, resource: string): boolean
}
