import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import * as assert from 'uvu/assert'
import { ModelError } from '../../../lib/models/model-error.ts'
import { type BatchTrace, GatheredReads, type Reader } from '../../../lib/models/sql/gathered-reads.ts'
import { Timeout } from '../../../lib/models/sql/runner.ts'
import { describe } from '../../helpers/describe.ts'
import { turn } from './stage.ts'

const current = new AsyncLocalStorage<unknown>()

/** A store of numbers by id that records reads, and answers when it is released. */
class Store implements Reader<number> {
	readonly asked: string[] = []
	/** The async context of each statement. */
	readonly contexts: unknown[] = []
	readonly table = 'note'
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
		this.contexts.push(current.getStore())
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

function gathering(store: Store): GatheredReads<number> {
	for (let id = 0; id < 1_000; id++) store.records.set(`${id}`, id)
	return new GatheredReads(store, new Timeout(5))
}

describe('gathered reads', (test) => {
	test('a single read is sent at once', async () => {
		const store = new Store()
		const gather = gathering(store)
		const read = gather.read('7')
		assert.equal(store.asked, ['7'])
		await store.release()
		assert.is(await read, 7)
		assert.is(store.idled, 1)
	})

	test('reads that arrive while a statement is in flight are sent together at the end of the tick', async () => {
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

	test('at most four statements are in flight, of at most a hundred ids', async () => {
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

	test('a read never joins a statement that was sent before', async () => {
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

	test('when a gathered statement fails, each is read alone', async () => {
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
		test(`when the store is ${kind}, reads are not retried one by one`, async () => {
			const store = new Store()
			const gather = gathering(store)
			store.failing = (ids) => (ids.length > 1 ? new ModelError(kind) : undefined)
			const reads = ['1', '2', '3'].map((id) => gather.read(id).catch((error) => error.kind))
			await turn()
			await store.release()
			// Not awaited: a read that is sent alone would wait until the store is released again.
			assert.equal(store.asked, ['1', '2,3'])
			assert.equal(await Promise.all(reads), [1, kind, kind])
			assert.is(store.idled, 1)
		})
	}

	test('an error about one id does not fail the others', async () => {
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

	test('where ids are compared loosely, missing ones are read alone', async () => {
		const store = new LooseStore()
		const gather = gathering(store)
		const reads = ['1', '2', 'none'].map((id) => gather.read(id))
		await turn()
		await store.release()
		assert.equal(store.asked, ['1', '2,none', 'none'])
		await store.release()
		assert.equal(await Promise.all(reads), [1, 2, undefined])
	})

	test('an expired read gets an error, and is not sent', async () => {
		const store = new Store()
		const timeout = new Timeout(0.04)
		const gather = new GatheredReads(store, timeout)
		const alive = setInterval(() => {}, 1_000)
		const reads = Array.from({ length: 500 }, (_, id) => gather.read(`${id}`).catch((error) => error.kind))
		assert.equal(new Set(await Promise.all(reads)), new Set(['unavailable']))
		clearInterval(alive)
		const { length } = store.asked
		await store.release()
		await store.release()
		assert.is(store.asked.length, length)
		assert.is(timeout.waiting, 0)
		assert.is(store.idled, 1)
	})

	for (const [what, store] of [
		['fails', new Store()],
		['misses them', new LooseStore()],
	] as const)
		test(`a read that expires while its gathered statement ${what} is not sent alone`, async () => {
			const timeout = new Timeout(0.04)
			const gather = new GatheredReads(store, timeout)
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

describe('the channel verbena:batch', (test) => {
	const channel = tracingChannel('verbena:batch')

	/** Reads '0', '1', …, each in a context of that name, while the first statement is in flight. */
	async function readInContexts(store: Store, count: number): Promise<void> {
		const gather = gathering(store)
		const ids = Array.from({ length: count }, (_, at) => String(at))
		const reads = ids.map((id) => current.run(`request ${id}`, () => gather.read(id)))
		await turn()
		await store.release()
		await Promise.all(reads)
	}

	test('has a context for each read, and binds one to the statement', async () => {
		const batches: unknown[] = []
		channel.start.bindStore(current, (message) => {
			const { table, reads } = message as BatchTrace
			const of = reads.map((read) => read.runInAsyncScope(() => current.getStore()))
			batches.push([table, ...of])
			return of.length === 1 ? of[0] : `a batch of ${of.length}`
		})
		const store = new Store()
		await readInContexts(store, 3)
		channel.start.unbindStore(current)
		assert.equal(batches, [
			['note', 'request 0'],
			['note', 'request 1', 'request 2'],
		])
		assert.equal(store.contexts, ['request 0', 'a batch of 2'])
	})

	test('a statement has the context of its first read, if none is bound', async () => {
		const onEnd = () => {}
		channel.asyncEnd.subscribe(onEnd)
		const store = new Store()
		await readInContexts(store, 3)
		channel.asyncEnd.unsubscribe(onEnd)
		assert.equal(store.contexts, ['request 0', 'request 1'])
	})
})
