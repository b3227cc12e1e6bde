/** Methods with authentication, rate limits, or idempotency keys: what two processes must agree on. */
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

/** The soak's tokens; a real program would only have their digests. */
export const TOKENS = { editor: 'soak_token-of-the-editor', reader: 'soak_token-of-the-reader' }
/** The header that names the caller of methods with limits. It is not verified. */
export const CALLER = 'X-Caller'
export const KEY_ID = 'load'
/** The rate limits per caller. */
export const FIXED = 5
export const SLIDING = 4

/** Believes any name, so that each burst of requests can have its own caller. */
const byName: Authenticator = {
	authenticate(request: Request) {
		const id = request.header(CALLER)
		return id === undefined ? null : { id }
	},
}

/** Each caller sends a single burst, far shorter than a window. */
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

/** Each run inserts a row, so that a payment that ran twice is found at the end. */
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

/** Accepts only signed requests. */
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

/** One method that any token allows, and one that only an editor's does. */
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
