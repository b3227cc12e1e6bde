/** Who may write: two users, each with a token that is made anew whenever the blog starts. */
import { newToken, RoleAcl, TokenAuthenticator, type TokenUser } from '../../lib/index.ts' // 'verbena'

export const acl = new RoleAcl({
	reader: ['comment:write'],
	editor: { inherits: ['reader'], allows: ['article:*', 'author:*', 'comment:*'] },
})

/** The tokens of users. */
export class Tokens {
	/** By their digests: a token itself is known to its user alone. */
	readonly #users = new Map<string, TokenUser>()
	/** Knows users by the token in `Authorization: Bearer <token>`. */
	readonly authenticator = new TokenAuthenticator({ tokens: (digest) => this.#users.get(digest) })

	/** Makes a token for a user. */
	issue(id: string, roles: readonly string[]): string {
		const { token, digest } = newToken('blog_')
		this.#users.set(digest, { id, roles })
		return token
	}
}
