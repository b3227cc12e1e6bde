import * as assert from 'uvu/assert'
import { ModelError } from '../../../lib/models/model-error.ts'
import { type Asked, Gather } from '../../../lib/models/sql/gather.ts'
import { Patience } from '../../../lib/models/sql/patience.ts'
import { describe } from '../../helpers/describe.ts'
import { turn } from './stage.ts'

/** A store of numbers by id that notes what it is asked, and answers when it is let go. */
class Store implements Asked<number> {
	readonly asked: string[] = []
	readonly looselyCompared: boolean = false
	readonly records = new Map<string, number>()
	failing: (ids: readonly string[]) => Error | undefined = () => undefined
	idled = 0
	#held: (() => void)[] = []

	async one(id: string): Promise<number | undefined> {
		return (await this.#ask([id])).get(id)
	}

	many(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
		return this.#ask(ids)
	}

	idle(): void {
		this.idled++
	}

	async release(): Promise<void> {
		for (const go of this.#held.splice(0)) go()
		await turn()
	}

	async #ask(ids: readonly string[]): Promise<Map<string, number>> {
		this.asked.push(ids.join())
		const error = this.failing(ids)
		const now = new Map([...this.records].filter(([id]) => ids.includes(id)))
		await new Promise<void>((resolve) => this.#held.push(resolve))
		if (error !== undefined) throw error
		return now
	}
}

class LooseStore extends Store {
	override readonly looselyCompared: boolean = true
}

function gathering(store: Store): Gather<number> {
	for (let id = 0; id < 1_000; id++) store.records.set(`${id}`, id)
	return new Gather(store, new Patience(5))
}

describe('gather', (test) => {
	test('who comes alone is asked for at once', async () => {
		const store = new Store()
		const gather = gathering(store)
		const read = gather.read('7')
		assert.equal(store.asked, ['7'])
		await store.release()
		assert.is(await read, 7)
		assert.is(store.idled, 1)
	})

	test('those who come while a query is under way are asked for together, at the end of the turn', async () => {
		const store = new Store()
		const gather = gathering(store)
		const reads = ['1', '2', '3', '2', 'none'].map((id) => gather.read(id))
		assert.equal(store.asked, ['1'])
		await turn()
		assert.equal(store.asked, ['1', '2,3,none'])
		await store.release()
		assert.equal(await Promise.all(reads), [1, 2, 3, 2, undefined])
		assert.is(store.idled, 1)
	})

	test('at most four queries are under way, of at most a hundred ids', async () => {
		const store = new Store()
		const gather = gathering(store)
		const reads = Array.from({ length: 350 }, (_, id) => gather.read(`${id}`))
		await turn()
		const sizes = () => store.asked.map((ids) => ids.split(',').length)
		assert.equal(sizes(), [1, 100, 100, 100])
		reads.push(gather.read('999'))
		await turn()
		assert.equal(sizes(), [1, 100, 100, 100])
		await store.release()
		assert.equal(sizes(), [1, 100, 100, 100, 50])
		await store.release()
		assert.equal((await Promise.all(reads)).slice(-2), [349, 999])
	})

	test('a read never joins a query that has been sent', async () => {
		const store = new Store()
		const gather = gathering(store)
		const before = [gather.read('1'), gather.read('2'), gather.read('3')]
		await turn()
		for (const id of ['1', '2', '3']) store.records.set(id, -1)
		const after = ['1', '2', '3'].map((id) => gather.read(id))
		await turn()
		await store.release()
		await store.release()
		assert.equal(await Promise.all(before), [1, 2, 3])
		assert.equal(await Promise.all(after), [-1, -1, -1])
	})

	test('when a joint query fails, each is asked alone', async () => {
		const store = new Store()
		const gather = gathering(store)
		const bad = new Error('bad id')
		store.failing = (ids) => (ids.includes('bad') ? bad : undefined)
		const reads = ['1', '2', 'bad', '3'].map((id) => gather.read(id).catch((error) => error))
		await turn()
		await store.release()
		assert.equal(store.asked, ['1', '2,bad,3', '2', 'bad', '3'])
		await store.release()
		assert.equal(await Promise.all(reads), [1, 2, bad, 3])
		assert.is(store.idled, 1)
	})

	for (const kind of ['unavailable', 'busy'] as const) {
		test(`when the store is ${kind}, it isn’t asked a hundred times more`, async () => {
			const store = new Store()
			const gather = gathering(store)
			store.failing = (ids) => (ids.length > 1 ? new ModelError(kind) : undefined)
			const reads = ['1', '2', '3'].map((id) => gather.read(id).catch((error) => error.kind))
			await turn()
			await store.release()
			// Not awaited: who is asked for alone would wait until the store is let go again.
			assert.equal(store.asked, ['1', '2,3'])
			assert.equal(await Promise.all(reads), [1, kind, kind])
			assert.is(store.idled, 1)
		})
	}

	test('what the store says of one id is no matter of the others', async () => {
		const store = new Store()
		const gather = gathering(store)
		store.failing = (ids) => (ids.includes('bad') ? new ModelError('invalid') : undefined)
		const reads = ['1', '2', 'bad'].map((id) => gather.read(id).catch((error) => error.kind))
		await turn()
		await store.release()
		assert.equal(store.asked, ['1', '2,bad', '2', 'bad'])
		await store.release()
		assert.equal(await Promise.all(reads), [1, 2, 'invalid'])
	})

	test('where ids are compared loosely, who was missed is asked for alone', async () => {
		const store = new LooseStore()
		const gather = gathering(store)
		const reads = ['1', '2', 'none'].map((id) => gather.read(id))
		await turn()
		await store.release()
		assert.equal(store.asked, ['1', '2,none', 'none'])
		await store.release()
		assert.equal(await Promise.all(reads), [1, 2, undefined])
	})

	test('who has waited too long gets an answer, and isn’t asked for any more', async () => {
		const store = new Store()
		const patience = new Patience(0.04)
		const gather = new Gather(store, patience)
		const alive = setInterval(() => {}, 1_000)
		const reads = Array.from({ length: 500 }, (_, id) => gather.read(`${id}`).catch((error) => error.kind))
		assert.equal(new Set(await Promise.all(reads)), new Set(['unavailable']))
		clearInterval(alive)
		const { length } = store.asked
		await store.release()
		await store.release()
		assert.is(store.asked.length, length)
		assert.is(patience.waiting, 0)
		assert.is(store.idled, 1)
	})

	for (const [what, store] of [
		['fails', new Store()],
		['misses them', new LooseStore()],
	] as const)
		test(`who loses patience while a joint query ${what} isn’t asked for alone`, async () => {
			const patience = new Patience(0.04)
			const gather = new Gather(store, patience)
			store.failing = (ids) => (ids.length > 1 && what === 'fails' ? new Error('of one of them') : undefined)
			const alive = setInterval(() => {}, 1_000)
			const reads = ['1', '2', '3'].map((id) => gather.read(id).catch((error) => error.kind))
			await turn()
			assert.equal(await Promise.all(reads), ['unavailable', 'unavailable', 'unavailable'])
			clearInterval(alive)
			assert.equal(store.asked, ['1', '2,3'])
			await store.release()
			await store.release()
			assert.equal(store.asked, ['1', '2,3'])
			assert.is(store.idled, 1)
		})
})
