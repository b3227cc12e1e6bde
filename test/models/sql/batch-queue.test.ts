/** `BatchQueue`: when batches are sent, and what is in them. */
import * as assert from 'uvu/assert'
import { ModelError } from '../../../lib/models/model-error.ts'
import { BatchQueue, type BatchSender, Pending, type TakeBatch } from '../../../lib/models/sql/batch-queue.ts'
import { describe } from '../../helpers/describe.ts'
import { turn } from './stage.ts'

type Item = Pending<string, string>

/** Takes batches when it has a connection, and records their sizes. */
class Stage implements BatchSender<Item> {
	readonly sent: number[] = []
	readonly begun: Item[] = []
	idled = 0
	readonly queue = new BatchQueue<Item>(32, this)
	readonly #connecting: (() => void)[] = []
	readonly #running: (() => void)[] = []
	readonly #refused: (() => void)[] = []

	query(): Promise<string> {
		return new Promise((resolve, reject) => this.queue.add(new Pending('?', resolve, reject)))
	}

	begin(item: Item): void {
		this.begun.push(item)
	}

	send(take: TakeBatch<Item>): Promise<void> {
		return new Promise((resolve) => {
			this.#refused.push(resolve)
			this.#connecting.push(() => {
				const items = take()
				this.sent.push(items.length)
				this.#running.push(() => {
					for (const { resolve } of items) resolve('!')
					resolve()
				})
			})
		})
	}

	idle(): void {
		this.idled++
	}

	get asked(): number {
		return this.#connecting.length
	}

	async connect(): Promise<void> {
		for (const connect of this.#connecting.splice(0)) connect()
		await turn()
	}

	/** No connection is available in time. */
	async refuse(): Promise<void> {
		this.#connecting.length = 0
		for (const refuse of this.#refused.splice(0)) refuse()
		await turn()
	}

	async answer(): Promise<void> {
		for (const answer of this.#running.splice(0)) answer()
		await turn()
	}
}

describe('BatchQueue', (test) => {
	test('a single item is sent at once', () => {
		const stage = new Stage()
		void stage.query()
		assert.is(stage.asked, 1)
	})

	test('items added before the batch is taken are in it', async () => {
		const stage = new Stage()
		const first = stage.query()
		const second = stage.query()
		await stage.connect()
		await stage.answer()
		assert.equal(await Promise.all([first, second]), ['!', '!'])
		assert.is(stage.sent[0], 2)
	})

	test('sends at most four batches at once, of at most 32 items each', async () => {
		const stage = new Stage()
		const all: Promise<unknown>[] = []
		for (let round = 0; round < 8; round++) {
			for (let at = 0; at < 40; at++) all.push(stage.query())
			await turn()
		}
		assert.is(stage.asked, 4)
		while (stage.asked > 0) {
			await stage.connect()
			assert.ok(stage.asked === 0, 'no more while four are in flight')
			await stage.answer()
		}
		await Promise.all(all)
		assert.is(
			stage.sent.reduce((sum, count) => sum + count),
			320,
		)
		assert.is(Math.max(...stage.sent), 32)
	})

	test('a burst is sent at once, up to four batches', async () => {
		const stage = new Stage()
		const all = Array.from({ length: 320 }, () => stage.query())
		await turn()
		assert.is(stage.asked, 4)
		while (stage.asked > 0) {
			await stage.connect()
			await stage.answer()
		}
		await Promise.all(all)
		assert.is(stage.idled, 1)
	})

	test('an expired item gets an error, and is not sent', async () => {
		const stage = new Stage()
		const lost = stage.query().catch((error: unknown) => error)
		const kept = stage.query()
		const [first] = stage.begun
		first?.expire()
		assert.is(((await lost) as ModelError).kind, 'unavailable')
		await stage.connect()
		assert.equal(stage.sent, [1])
		await stage.answer()
		await kept
	})

	test('expired items are not retained when nothing can be sent', async () => {
		const stage = new Stage()
		const lost = [1, 2, 3].map(() => stage.query().catch((error: unknown) => error))
		for (const item of stage.begun) item.expire()
		for (const error of await Promise.all(lost)) assert.instance(error, ModelError)
		await stage.refuse()
		assert.equal([stage.asked, stage.idled], [0, 1])
	})

	test('reports when it is empty again', async () => {
		const stage = new Stage()
		const only = stage.query()
		assert.is(stage.idled, 0)
		await stage.connect()
		await stage.answer()
		await only
		assert.is(stage.idled, 1)
	})
})
