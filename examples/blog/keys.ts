/** Who may write: two users, with tokens and a key that are created anew at each start. */
import { randomBytes } from 'node:crypto'
import {
	anyOf,
	HmacAuthenticator,
	newToken,
	RoleAcl,
	TokenAuthenticator,
	type TokenUser,
} from '../../lib/index.ts' // 'verbena'

export const acl = new RoleAcl({
	reader: ['comment:write'],
	editor: { inherits: ['reader'], allows: ['article:*', 'author:*', 'comment:*'] },
})

/** The tokens of users, and the key of one who signs. */
export class Tokens {
	/** By the digests of their tokens: only a user knows the token itself. */
	readonly #users = new Map<string, TokenUser>()
	readonly #keys = new Map<string, { secret: string; user: TokenUser }>()
	/** Identifies users by `Authorization: Bearer <token>`, or by the key that has signed the request. */
	readonly authenticator = anyOf(
		new TokenAuthenticator({ tokens: (digest) => this.#users.get(digest) }),
		new HmacAuthenticator(undefined, undefined, 300, { keys: (id) => this.#keys.get(id) }),
	)

	/** Creates a token for a user. */
	issue(id: string, roles: readonly string[]): string {
		const { token, digest } = newToken('blog_')
		this.#users.set(digest, { id, roles })
		return token
	}

	/** Creates a secret with which a user signs; the key's id is that of the user. */
	issueKey(id: string, roles: readonly string[]): string {
		const secret = randomBytes(32).toString('base64')
		this.#keys.set(id, { secret, user: { id, roles } })
		return secret
	}
}
