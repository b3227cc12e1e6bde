/**
 * `POST /things/batch`: a list of operations in one `transaction`, with nested ones, which may be undone at its end. The method
 * of the handlers in `all-things.ts`; `any-batch.ts` makes its bodies.
 */
import {
	type CrudHandler,
	type CrudValues,
	RestError,
	type TotalsRequest,
	transaction,
} from '../../../lib/index.ts'

type Values = Record<string, unknown>

/** A number, or `made 0` for the record that this batch has created first. */
export type BatchId = string | number

/** How a transaction ends: in an error that its caller catches, or one that is recorded by `this.error()`. */
export type BatchEnd = 'commit' | 'throw' | 'error'

/** One operation: by `kept`, the handler with `softDelete`, or by the one that was asked. */
export type BatchStep = { readonly by?: 'kept' | undefined } & (
	| { readonly does: 'create'; readonly values: Values }
	| { readonly does: 'createMany' | 'upsert'; readonly records: readonly Values[] }
	| { readonly does: 'update' | 'replace'; readonly id: BatchId; readonly values: Values }
	| { readonly does: 'updateMany'; readonly records: readonly (Values & { readonly id: BatchId })[] }
	| { readonly does: 'read' | 'remove' | 'restore'; readonly id: BatchId }
	| { readonly does: 'removeMany'; readonly ids: readonly BatchId[] }
	| { readonly does: 'list' | 'totals' }
	| { readonly does: 'nest'; readonly steps: readonly BatchStep[]; readonly ends: BatchEnd }
)

export interface Batch {
	readonly steps: readonly BatchStep[]
	readonly ends: BatchEnd
}

/** What the operations of a batch work with. */
interface Within {
	readonly own: CrudHandler
	readonly kept: CrudHandler
	/** The ids of created records; of those that were undone, none: SQLite gives them again. */
	readonly made: string[]
}

class Undone extends Error {}

const TOTALS: Partial<TotalsRequest> = {
	by: [
		{ name: 'status', field: 'status' },
		{ name: 'at', field: 'at', part: 'month' },
	],
	totals: [
		{ op: 'count' },
		{ op: 'sum', field: 'rank', name: 'rank' },
		{ op: 'max', field: 'price', name: 'price' },
	],
}

/** Runs the body of a request to `view`, and answers with what each operation has returned. */
export async function runBatch(view: CrudHandler, kept: CrudHandler): Promise<unknown> {
	const { steps, ends } = view.body as unknown as Batch // made by `any-batch.ts`
	const did: unknown[] = []
	try {
		await transaction([view, kept], async ([own, inKept]) => {
			// The view itself takes part as well.
			const within = { own: steps.length % 2 === 0 ? own : view, kept: inKept, made: [] }
			for (const step of steps) did.push(await run(within, step))
			if (ends === 'throw') throw new Undone()
			return ends === 'error' ? view.error('Undone', 409) : undefined
		})
	} catch (error) {
		if (!(error instanceof Undone)) throw error
		return { undone: withoutIds(did) }
	}
	return { did }
}

async function run(within: Within, step: BatchStep): Promise<unknown> {
	const { made } = within
	const handler = within[step.by ?? 'own']
	const idOf = (id: BatchId) => idIn(made, id)
	const withParent = (values: Values, of?: string) => valuesWith(made, values, of)
	switch (step.does) {
		case 'create': {
			const record = await handler.create(withParent(step.values))
			made.push(record.id)
			return record.value()
		}
		case 'createMany': {
			const records = await handler.createMany(step.records.map((values) => withParent(values)))
			made.push(...records.map(({ id }) => id))
			return records.map((record) => record.value())
		}
		case 'upsert':
			return valuesOf(
				await handler.upsert(
					step.records.map((values) => withParent(values)),
					['code'],
				),
			)
		case 'update':
		case 'replace': {
			const id = idOf(step.id)
			return (await handler[step.does](id, withParent(step.values, id))).value()
		}
		case 'updateMany': {
			const records = step.records.map(({ id, ...values }) => ({
				...withParent(values, idOf(id)),
				id: idOf(id),
			}))
			return valuesOf(await handler.updateMany(records))
		}
		case 'read':
		case 'remove':
		case 'restore':
			return (await handler[step.does](idOf(step.id))).value()
		case 'removeMany': {
			const where = { op: 'in', field: 'id', values: step.ids.map((id) => Number(idOf(id))) } as const
			const ids = await handler.removeMany(where).catch((error) => Promise.reject(withoutId(error)))
			return ids.map((id) => ({ id: Number(id) }))
		}
		case 'list': {
			const page = await handler.list(handler.listQuery())
			return [page.value(), page.meta.total]
		}
		case 'totals':
			return (await handler.totals(TOTALS)).value()
		case 'nest':
			return nested(within, step)
	}
}

function idIn(made: readonly string[], id: BatchId): string {
	const [, at] = /^made (\d)$/.exec(String(id)) ?? []
	return at === undefined ? String(id) : (made[Number(at)] ?? '900000009')
}

/** @param of the record that is changed: InnoDB can't delete one that refers to itself */
function valuesWith(made: readonly string[], { parent, ...values }: Values, of?: string): CrudValues {
	if (parent === undefined) return values
	const id = parent === null ? null : idIn(made, parent as BatchId) // as `any-batch.ts` writes it
	return { ...values, parent: id === of ? null : id }
}

/** A transaction within the transaction, whose failure isn't that of the outer one. */
async function nested(
	{ own, kept, made }: Within,
	{ steps, ends }: Extract<BatchStep, { readonly does: 'nest' }>,
): Promise<unknown> {
	const did: unknown[] = []
	const before = made.length
	try {
		await transaction([own, kept], async ([inOwn, inKept]) => {
			for (const step of steps) did.push(await run({ own: inOwn, kept: inKept, made }, step))
			if (ends !== 'commit') throw new Undone()
		})
		return { did }
	} catch (error) {
		made.length = before
		if (error instanceof Undone) return { undone: withoutIds(did) }
		if (error instanceof RestError) return { refused: error.code }
		throw error
	}
}

function valuesOf(records: readonly { value(): unknown }[]): unknown[] {
	return records.map((record) => record.value())
}

/** What was undone is no record to be numbered by `play.ts`. */
function withoutIds(did: readonly unknown[]): unknown {
	const hide = (name: string, value: unknown) => (name === 'id' || name === 'parent' ? undefined : value)
	return JSON.parse(JSON.stringify(did, hide))
}

/** Of several that are deleted, the one that can't be is named by its id. */
function withoutId(error: unknown): unknown {
	if (!(error instanceof RestError) || error.code !== 'conflict') return error
	return new RestError('conflict', error.message.replace(/^\d+: /, 'one: '), { cause: error })
}
