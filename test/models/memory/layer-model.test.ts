/** `LayerModel`: what transactions of `MemoryModel`s see, wait for, and leave behind. */
import * as assert from 'uvu/assert'
import { MemoryModel } from '../../../lib/models/memory/memory-model.ts'
import type { Model, Order, Selection, Within } from '../../../lib/models/model.ts'
import { ModelError } from '../../../lib/models/model-error.ts'
import { describe } from '../../helpers/describe.ts'

const SELECTION: Selection = { fields: ['id', 'rank'], names: ['id', 'rank'], version: undefined }
const NO_GUARD = { where: undefined, version: undefined }
const BY_RANK: Order = { field: 'rank', descending: true }

describe('memory/layer-model', (test) => {
	test('a commit waits for nested transactions of several models, whatever their order', async () => {
		// The order of locks is drawn for each pair.
		for (let trial = 0; trial < 16; trial++) {
			const [one, other] = [model(), model()]
			const unawaited: Promise<unknown>[] = []
			await one.transactionWith([other], async ({ of }) => {
				const [inner, second] = [of(one), of(other)] as [MemoryModel, MemoryModel]
				for (const held of [inner, second]) unawaited.push(held.transaction(() => nextTick()))
				unawaited.push(
					inner.transactionWith([second], async (within) => {
						await within.of(one).create({ id: 1, rank: 1 }, SELECTION)
					}),
				)
			})
			await Promise.all(unawaited)
			assert.is(await one.count(undefined), 1)
		}
	})

	test('a model that joined a transaction, and has changed nothing, lists what others store', async () => {
		const [one, other] = [model(), model()]
		await other.create({ id: 1, rank: 1 }, SELECTION)
		await one.transactionWith([], async ({ of }) => {
			const joined = of(other)
			assert.is(await listed(joined), '[{"id":1,"rank":1}]')
			await other.create({ id: 2, rank: 2 }, SELECTION)
			await other.update('1', { rank: 9 }, SELECTION, NO_GUARD)
			assert.is(await listed(joined), '[{"id":1,"rank":9},{"id":2,"rank":2}]')
			await joined.create({ id: 3, rank: 5 }, SELECTION)
			assert.is(await listed(joined), '[{"id":1,"rank":9},{"id":3,"rank":5},{"id":2,"rank":2}]')
			assert.is(await listed(other), '[{"id":1,"rank":9},{"id":2,"rank":2}]')
		})
		assert.is(await listed(other), '[{"id":1,"rank":9},{"id":3,"rank":5},{"id":2,"rank":2}]')
	})

	test('a model that joins a transaction after its end is refused', async () => {
		const [one, other] = [model(), model()]
		const ended = async (work: () => void): Promise<Within> => {
			let kept: Within | undefined
			const transaction = one.transactionWith([], async (within) => {
				kept = within
				work()
			})
			await transaction.catch(() => undefined)
			return kept as Within // assigned by the work
		}
		const failing = (): void => {
			throw new Error('no')
		}
		for (const { of } of [await ended(() => undefined), await ended(failing)]) {
			const late = of(other)
			const asked = [() => late.count(undefined), () => late.create({ id: 1, rank: 1 }, SELECTION)]
			for (const ask of asked) {
				const error = await ask().catch((thrown: unknown) => thrown)
				assert.ok(error instanceof TypeError, String(error))
				assert.is(error.message, "MemoryModel 'm': this transaction has ended, use the model itself")
			}
		}
		assert.is(await other.count(undefined), 0)
	})

	test('a model that was busy when it joined a transaction can be changed when it is free', async () => {
		const [one, other] = [model(0.02), model(0.02)]
		await one.transactionWith([], async ({ of }) => {
			const joined = of(other)
			const create = (id: number) => joined.create({ id, rank: 1 }, SELECTION)
			await other.transaction(async () => {
				const error = await create(1).catch((thrown: unknown) => thrown)
				assert.is(error instanceof ModelError && error.kind, 'busy')
			})
			await Promise.all([create(2), create(3)])
		})
		assert.is(await listed(other), '[{"id":2,"rank":1},{"id":3,"rank":1}]')
	})
})

function model(timeoutSeconds = 30): MemoryModel {
	return new MemoryModel('m', { fields: { id: 'integer', rank: 'integer' }, key: 'id', timeoutSeconds })
}

async function listed(from: Model): Promise<string> {
	const { json } = await from.list({
		...{ selection: SELECTION, where: undefined, order: [BY_RANK], limit: 10, offset: 0 },
		...{ after: undefined, total: false },
	})
	return json
}

function nextTick(): Promise<void> {
	return new Promise(setImmediate)
}
