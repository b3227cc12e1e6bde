/**
 * `POST /articles/batch` and `/comments/batch`: a list of operations of several handlers and models in one `transaction`, with
 * nested ones, which may be undone at its end. The method of handlers in `handlers.ts`; `any-batch.ts` makes its bodies.
 */
import {
	type CrudHandler,
	databaseError,
	type Model,
	RestError,
	type Transacting,
	transaction,
	type Values,
} from '../../../../lib/index.ts'
import type { Guard, Selection } from '../../../../lib/models/index.ts'

/** What takes part: handlers, and models. */
export interface Members {
	readonly articles: CrudHandler
	readonly comments: CrudHandler
	readonly article: Model
	readonly person: Model
	readonly tie: Model
}

type Name = keyof Members

/** How a transaction ends: in an error that its caller catches, or one that is recorded by `this.error()`. */
export type BatchEnd = 'commit' | 'throw' | 'error'

export type BatchStep =
	/** A method of a handler, with what it is called with. */
	| { readonly of: 'articles' | 'comments'; readonly does: Called; readonly with: readonly unknown[] }
	| { readonly of: 'article' | 'person' | 'tie'; readonly does: 'create'; readonly values: Values }
	| { readonly of: 'article' | 'person' | 'tie'; readonly does: 'delete'; readonly id: string }
	/** The list that the request asks for. */
	| { readonly does: 'list' }
	| { readonly does: 'nest'; readonly steps: readonly BatchStep[]; readonly ends: BatchEnd }

type Called =
	| 'create'
	| 'createMany'
	| 'upsert'
	| 'read'
	| 'remove'
	| 'removeMany'
	| 'totals'
	| 'update'
	| 'updateMany'

export interface Batch {
	/** Those that the transaction begins with; the others join it where they are needed. */
	readonly over: readonly Name[]
	readonly steps: readonly BatchStep[]
	readonly ends: BatchEnd
}

/** What the operations work with. */
interface Within {
	/** The name of the handler that was asked. */
	readonly asked: 'articles' | 'comments'
	/** As the innermost transaction has given them. */
	readonly members: Members
	readonly joined: readonly Name[]
}

const NOTHING: Selection = { fields: [], names: [], version: undefined }
const ANY: Guard = { where: undefined, version: undefined }

class Undone extends Error {}

/** Runs the body of a request, and answers with what each operation has returned. */
export async function runBatch(asked: Within['asked'], members: Members): Promise<unknown> {
	const view = members[asked]
	const { over, steps, ends } = view.body as unknown as Batch // made by `any-batch.ts`
	return ending(ends, (did) =>
		inTransaction({ asked, members, joined: [asked] }, over, async (within) => {
			for (const step of steps) did.push(await run(within, step))
			if (ends === 'throw') throw new Undone()
			return ends === 'error' ? view.error('Undone', 409) : undefined
		}),
	)
}

async function ending(ends: BatchEnd, work: (did: unknown[]) => Promise<unknown>): Promise<unknown> {
	const did: unknown[] = []
	try {
		await work(did)
		return { did }
	} catch (error) {
		if (error instanceof Undone && ends !== 'commit') return { undone: did }
		throw error
	}
}

/** Runs `work` in a transaction of those that have joined already, and of `more`. */
function inTransaction<T>(
	{ asked, members, joined }: Within,
	more: readonly Name[],
	work: (within: Within) => Promise<T>,
): Promise<T> {
	const [first = asked, ...rest] = [...new Set([...joined, ...more])]
	const of: [Transacting, ...Transacting[]] = [members[first], ...rest.map((name) => members[name])]
	return transaction(of, (inner) => {
		const entries = [first, ...rest].map((name, at) => [name, inner[at]])
		// The same members, within the transaction.
		const own = { ...members, ...Object.fromEntries(entries) } as Members
		return work({ asked, members: own, joined: [first, ...rest] })
	})
}

async function run(within: Within, step: BatchStep): Promise<unknown> {
	if (step.does === 'nest') return nested(within, step)
	const name = step.does === 'list' ? within.asked : step.of
	if (!within.joined.includes(name)) return inTransaction(within, [name], (inner) => run(inner, step))
	if (step.does === 'list') {
		const view = within.members[within.asked]
		const page = await view.list(view.listQuery())
		return [page.value(), page.meta.total]
	}
	if ('with' in step) {
		const handler = within.members[step.of]
		const result: unknown = await Reflect.apply(handler[step.does], handler, step.with)
		return Array.isArray(result) ? result.map(shown) : shown(result)
	}
	const model = within.members[step.of]
	const done =
		step.does === 'create' ? model.create(step.values, NOTHING) : model.delete(step.id, NOTHING, ANY)
	// `missing`, or the record.
	return done.then(
		(result) => (typeof result === 'string' ? result : 'done'),
		(error) => Promise.reject(databaseError(error, model)),
	)
}

/** Records and groups have `value()`; of those that are deleted, the ids are returned. */
function shown(result: unknown): unknown {
	return typeof result === 'string' ? result : (result as { value(): unknown }).value()
}

/** A transaction within the transaction, whose failure isn't that of the outer one. */
function nested(
	within: Within,
	{ steps, ends }: Extract<BatchStep, { readonly does: 'nest' }>,
): Promise<unknown> {
	const all = Object.keys(within.members) as Name[] // they have nothing else
	const done = ending(ends, (did) =>
		inTransaction(within, all, async (inner) => {
			for (const step of steps) did.push(await run(inner, step))
			if (ends !== 'commit') throw new Undone()
		}),
	)
	return done.catch((error) => {
		if (error instanceof RestError) return { refused: error.code }
		throw error
	})
}
