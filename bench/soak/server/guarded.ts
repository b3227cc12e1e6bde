/** Methods that not everybody may call, or not so often, or that run once: what two processes must agree on. */
import type { Pool } from 'pg'
import {
	type Authenticator,
	HmacAuthenticator,
	type Request,
	RestHandler,
	RoleAcl,
	reply,
	TokenAuthenticator,
	tokenDigest,
} from '../../../lib/index.ts'

/** Tokens of the soak; of real ones there would be the digests alone. */
export const TOKENS = { editor: 'soak_token-of-the-editor', reader: 'soak_token-of-the-reader' }
/** The header in which callers say who they are, where it is about limits and not about secrets. */
export const CALLER = 'X-Caller'
export const KEY_ID = 'load'
/** What is let in of a caller. */
export const FIXED = 5
export const SLIDING = 4

/** Whoever says a name is believed: each burst of requests is somebody else's. */
const byName: Authenticator = {
	authenticate(request: Request) {
		const id = request.header(CALLER)
		return id === undefined ? null : { id }
	},
}

/** Windows are longer than a soak of some hours, so that none ends within a burst. */
export class Limited extends RestHandler {
	override authenticator = byName
	override access = { '*': 'user' }
	override rateLimits = {
		get_fixed: { limit: FIXED, windowSeconds: 900 },
		get_sliding: { limit: SLIDING, windowSeconds: 900, window: 'sliding' },
	}

	get_fixed() {
		return process.pid
	}

	get_sliding() {
		return process.pid
	}
}

/** Each run is a row, so that one that ran twice is seen at the end. */
export class Payments extends RestHandler {
	override authenticator = byName
	override access = { '*': 'user' }
	private readonly pool: Pool
	private readonly table: string

	constructor(pool: Pool, table: string) {
		super()
		this.pool = pool
		this.table = table
	}

	async post_payment() {
		const { order, amount } = this.getParams({
			order: ['required', 'string', { max: 60 }],
			amount: ['required', 'integer', { min: 1, max: 1_000_000 }],
		})
		const insert = `insert into ${this.table} (caller, reference, amount) values ($1, $2, $3) returning id`
		const { rows } = await this.pool.query<{ id: number }>(insert, [this.user?.id, order, amount])
		return reply({ number: rows[0]?.id, order, amount }, { status: 201 })
	}
}

/** What is signed. */
export class Vault extends RestHandler {
	override authenticator: Authenticator
	override access = { '*': 'user' }

	constructor(secret: string) {
		super()
		this.authenticator = new HmacAuthenticator(this, undefined, 300, { keys: { [KEY_ID]: secret } })
	}

	get_note(id: string) {
		return { id, by: this.user?.id }
	}

	post_note() {
		return { written: this.body, by: this.user?.id }
	}
}

/** What a token opens, and what only an editor's does. */
export class Desk extends RestHandler {
	override authenticator = new TokenAuthenticator({
		tokens: {
			[tokenDigest(TOKENS.editor)]: { id: 'ruth', roles: ['editor'] },
			[tokenDigest(TOKENS.reader)]: { id: 'rick', roles: ['reader'] },
		},
	})
	override acl = new RoleAcl({
		reader: ['notice:read'],
		editor: { inherits: ['reader'], allows: ['notice:write'] },
	})
	override access = { post_notice: ['notice:write'], '*': 'user' }

	get_me() {
		return { id: this.user?.id, mayWrite: this.can('notice:write') }
	}

	post_notice() {
		return `written by ${this.user?.id}`
	}
}
