/** The `Acl` interface: what a user may do. */
import type { User } from './authenticator.ts'

/**
 * Decides whether a user may use a resource, by its name (`'article:write'`). Synchronous, so that a
 * forgotten `await` can't open a hole; what it needs (roles) comes with the user.
 */
export interface Acl {
	/** Whether the user may use the resource. Anything but `true` refuses. */
	allows(user: User, resource: string): boolean
}
