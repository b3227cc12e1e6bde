/**
 * Reads from replicas: operations that only read use one in requests with a safe method, unless the caller has just changed
 * something. All else uses the primary: changes and the reads that belong to them, transactions, and calls outside of requests.
 * Called by `reads.ts` and the other operations that read.
 */
import { attached } from '../base/attached.ts'
import type { Method } from '../base/http.ts'
import { isThenable } from '../base/thenable.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { OwnAction } from '../handler/mount/methods.ts'
import { exchangeOf, findExchange } from '../handler/view.ts'
import { callerOf } from '../limits/rate-limit.ts'
import type { Model } from '../models/model.ts'
import { type Replica, type Replicas, replicasOf } from '../models/replicas.ts'
import type { CrudPlan } from './plan.ts'
import { type CrudView, FACTS } from './view.ts'

/** Methods that change nothing (RFC 9110 §9.2.1). */
const SAFE: ReadonlySet<Method> = new Set(['GET', 'HEAD', 'QUERY', 'OPTIONS'])

const CHOSEN: unique symbol = Symbol('verbena.replica')

/** The model to read from in this request: a replica's if one may be used, else the given one. */
export function fromReplica(view: CrudView, model: Model): Model {
	const replicas = replicasOf(model)
	if (replicas === undefined || view[FACTS].transaction !== undefined) return model
	const exchange = findExchange(view)
	// A request must read its own changes.
	if (exchange === undefined || mayHaveWritten(exchange)) return model
	// All reads of a request use the same replica.
	const chosen = attached(exchange, CHOSEN, () => new Map<Replicas, Replica | undefined>())
	if (!chosen.has(replicas)) chosen.set(replicas, replicas.choose(callerOf(exchange.user, exchange.ip()).id))
	return chosen.get(replicas)?.of(model) ?? model
}

/** Calls `run`, a method of the handler, and notes its caller afterwards if it may have changed something. */
export function notingWriter(view: CrudView, run: () => unknown): unknown {
	const exchange = exchangeOf(view, 'replicas')
	const end = () => {
		if (mayHaveWritten(exchange)) noteWriter(exchange, view[FACTS].plan.model)
	}
	let result: unknown
	try {
		result = run()
	} catch (error) {
		end()
		throw error
	}
	if (isThenable(result)) return Promise.resolve(result).finally(end)
	end()
	return result
}

/** The actions of a handler; with replicas, they note who may have changed something. */
export function notingWriters(plan: CrudPlan, actions: readonly OwnAction[]): readonly OwnAction[] {
	if (!plan.hasReplicas) return actions
	return actions.map((action) => ({
		...action,
		run(this: object, ...params: Parameters<OwnAction['run']>) {
			// The mount only calls it with a view of a CrudHandler as `this`.
			return notingWriter(this as CrudView, () => action.run.apply(this, params))
		},
	}))
}

function mayHaveWritten({ method, isDone }: Exchange): boolean {
	return isDone || !SAFE.has(method)
}

/** Notes the caller of a request that may have changed records of the model. */
export function noteWriter(exchange: Exchange, model: Model): void {
	const replicas = replicasOf(model)
	if (replicas === undefined) return
	const { user } = exchange
	if (user !== null) replicas.noteWrite(callerOf(user, '').id)
	// By address too, because the next request may come without credentials.
	replicas.noteWrite(callerOf(null, exchange.ip()).id)
}
