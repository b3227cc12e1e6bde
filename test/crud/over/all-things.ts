/**
 * Handlers over the table of `stores.ts` that allow all operations there are, for `same-answers.ts`: for everybody, scoped by owner,
 * and one that marks records as deleted. `things.ts` has handlers for single requests.
 */
import { CrudHandler, type CrudOptions, createServer, type Model } from '../../../lib/index.ts'
import { Log } from '../../helpers/listening.ts'
import { TOTALS } from './any-totals.ts'
import { runBatch } from './batch.ts'
import { type Asked, OPTIONS } from './things.ts'

const ALL: CrudOptions = {
	...OPTIONS,
	allow: [...(OPTIONS.allow ?? []), 'createMany', 'updateMany', 'removeMany', 'upsert', 'totals'],
	upsertOn: ['code'],
	totals: TOTALS,
}

/**
 * Serves the model at `/things`, at `/mine` within the scope of `x-owner`, and at `/kept` with `softDelete`, each with
 * `POST …/batch` for a transaction.
 */
export function serveAll(model: Model): Asked {
	class Things extends CrudHandler {
		post_batch() {
			return runBatch(this, kept)
		}
	}
	class OwnThings extends Things {
		override scope() {
			return { owner: this.request.header('x-owner') }
		}
	}
	const relations = (to: () => CrudHandler) => ({ mother: { to, by: 'parent' } })
	const things: CrudHandler = new Things(model, { ...ALL, relations: relations(() => things) })
	const mine: CrudHandler = new OwnThings(model, { ...ALL, relations: relations(() => mine) })
	const kept: CrudHandler = new Things(model, {
		...ALL,
		allow: [...(ALL.allow ?? []), 'restore'],
		softDelete: 'deleted',
		relations: relations(() => kept),
	})
	const log = new Log()
	const server = createServer({ things, mine, kept }, { logger: log, logRequests: false })
	return { log, ask: (request) => server.inject(request) }
}
