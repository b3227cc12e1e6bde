/** Who may write: two users, each with a key that is made anew whenever the blog starts. */
import { createHash, randomBytes } from 'node:crypto'
import { type Authenticator, type Request, RestError, RoleAcl, type User } from '../../lib/index.ts' // 'verbena'

export const acl = new RoleAcl({
	reader: ['comment:write'],
	editor: { inherits: ['reader'], allows: ['article:*', 'author:*', 'comment:*'] },
})

/** Knows users by the key in `Authorization: Bearer <key>`. */
export class Keys implements Authenticator {
	/** By the key's hash: how long a lookup takes tells then nothing about the keys there are. */
	readonly #users = new Map<string, User>()

	/** Makes a key for a user. */
	issue(id: string, roles: readonly string[]): string {
		const key = randomBytes(16).toString('hex')
		this.#users.set(hashOf(key), { id, roles })
		return key
	}

	authenticate(request: Request): User | null {
		const sent = request.header('Authorization')
		if (sent === undefined) return null
		const user = this.#users.get(hashOf(sent.replace(/^Bearer +/i, '')))
		if (user === undefined) throw new RestError('unauthorized', 'This key is not known')
		return user
	}
}

function hashOf(key: string): string {
	return createHash('sha256').update(key).digest('hex')
}
