/** What the acceptance app lacks, for `contract.ts`: versions, signatures, idempotency keys, temporary failures. */
import {
	CrudHandler,
	type CrudValues,
	type Handlers,
	HmacAuthenticator,
	type Model,
	RestError,
	RestHandler,
	reply,
} from '../../lib/index.ts'
import { OPTIONS } from '../crud/over/things.ts'
import { KEY } from './contract.ts'

class Things extends CrudHandler {
	constructor(model: Model) {
		super(model, { ...OPTIONS, limit: 20, maxLimit: 50 })
	}

	/** With a version number known to the cases. */
	override create(values: CrudValues) {
		return super.create({ ...values, version: 1 })
	}
}

class Bare extends Things {
	override readonly wrap = false
}

class Keyed extends Things {
	override readonly idempotencyKeys = 'anyone'
}

class Signed extends Things {
	override access = { '*': 'user' }
	override authenticator = new HmacAuthenticator(this, undefined, 300, { keys: { [KEY.id]: KEY.secret } })
}

/** Fails twice for each id, then returns the number of attempts; a write always fails. */
class Site extends RestHandler {
	override customRoutes = { 'GET signed-busy/%s': 'signedBusy' }
	private readonly counts = new Map<string, number>()

	get_busy(id: string) {
		const count = (this.counts.get(id) ?? 0) + 1
		this.counts.set(id, count)
		if (count < 3) throw unavailable()
		return { id: count }
	}

	async signedBusy(id: string) {
		await this.requireAuth(new HmacAuthenticator(this, this.cache, 300, { keys: { [KEY.id]: KEY.secret } }))
		return this.get_busy(id)
	}

	post_busy() {
		throw unavailable()
	}

	patch_busy(_id: string) {
		throw unavailable()
	}

	delete_busy(_id: string) {
		throw unavailable()
	}

	/** Never responds: the client has to abort. */
	get_slow(_id: string) {
		return new Promise((resolve) => this.request.signal.addEventListener('abort', resolve))
	}

	get_page(_id: string) {
		return reply(Buffer.from('<!doctype html><title>A page</title>'), {
			headers: { 'Content-Type': 'text/html' },
		})
	}
}

function unavailable(): RestError {
	return new RestError('unavailable', undefined, { headers: { 'Retry-After': '0' } })
}

/** The site over a table of `crud/over/stores.ts`, below `/site`. */
export function siteOf(model: Model): Handlers {
	return {
		site: new Site(),
		...{ 'site/thing': new Things(model), 'site/bare': new Bare(model) },
		...{ 'site/keyed': new Keyed(model), 'site/signed': new Signed(model) },
	}
}
