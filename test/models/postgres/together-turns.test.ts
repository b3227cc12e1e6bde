/** Whom `Together` sends when; what becomes of them is its sender's business. */
import * as assert from 'uvu/assert'
import type { Due } from '../../../lib/base/deadlines.ts'
import { NotSent } from '../../../lib/models/postgres/errors.ts'
import { type Insert, type Sender, Together } from '../../../lib/models/postgres/pg/together.ts'
import { describe } from '../../helpers/describe.ts'
import { turn } from '../sql/stage.ts'

const STATEMENT = { text: 'insert', values: [], writes: true }

/** Has connections when it is told so, and notes how many were sent on each. */
class Stage implements Sender {
	readonly sent: number[] = []
	readonly looked = new Set<Due>()
	idled = 0
	readonly #connecting: (() => void)[] = []
	readonly #running: (() => void)[] = []
	readonly #refused: (() => void)[] = []

	begin(item: Due): void {
		this.looked.add(item)
	}

	end(item: Due): void {
		this.looked.delete(item)
	}

	send(take: () => readonly Insert[]): Promise<void> {
		return new Promise((resolve) => {
			this.#refused.push(resolve)
			this.#connecting.push(() => {
				const inserts = take()
				this.sent.push(inserts.length)
				this.#running.push(() => {
					for (const { resolve } of inserts) resolve({ rows: [], affected: 1 })
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

	/** There is no connection in time. */
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

describe('together: whom it sends when', (test) => {
	test('who comes alone asks for a connection at once', () => {
		const stage = new Stage()
		void new Together(stage).query(STATEMENT)
		assert.is(stage.asked, 1)
	})

	test('whoever comes until there is a connection is sent with it', async () => {
		const stage = new Stage()
		const together = new Together(stage)
		const first = together.query(STATEMENT)
		const second = together.query(STATEMENT)
		await stage.connect()
		await stage.answer()
		assert.equal(await Promise.all([first, second]), [
			{ rows: [], affected: 1 },
			{ rows: [], affected: 1 },
		])
		assert.is(stage.sent[0], 2)
		assert.is(stage.looked.size, 0)
	})

	test('at most four transactions at once, of at most 32 each', async () => {
		const stage = new Stage()
		const together = new Together(stage)
		const all: Promise<unknown>[] = []
		for (let round = 0; round < 8; round++) {
			for (let at = 0; at < 40; at++) all.push(together.query(STATEMENT))
			await turn()
		}
		assert.is(stage.asked, 4)
		while (stage.asked > 0) {
			await stage.connect()
			assert.ok(stage.asked === 0, 'nobody is asked for more while four are under way')
			await stage.answer()
		}
		await Promise.all(all)
		assert.is(
			stage.sent.reduce((sum, count) => sum + count),
			320,
		)
		assert.is(Math.max(...stage.sent), 32)
	})

	test('a burst is sent at once, as far as it fills four', async () => {
		const stage = new Stage()
		const together = new Together(stage)
		const all = Array.from({ length: 320 }, () => together.query(STATEMENT))
		await turn()
		assert.is(stage.asked, 4)
		while (stage.asked > 0) {
			await stage.connect()
			await stage.answer()
		}
		await Promise.all(all)
		assert.is(stage.idled, 1)
	})

	test('who has lost patience is told, and is not sent', async () => {
		const stage = new Stage()
		const together = new Together(stage)
		const lost = together.query(STATEMENT).catch((error: unknown) => error)
		const kept = together.query(STATEMENT)
		const [first] = stage.looked
		first?.expire()
		assert.instance(await lost, NotSent)
		await stage.connect()
		assert.equal(stage.sent, [1])
		await stage.answer()
		await kept
	})

	test('where no connection is to be had, those whose time is over are kept for nobody', async () => {
		const stage = new Stage()
		const together = new Together(stage)
		const lost = [1, 2, 3].map(() => together.query(STATEMENT).catch((error: unknown) => error))
		for (const item of stage.looked) item.expire()
		for (const error of await Promise.all(lost)) assert.instance(error, NotSent)
		await stage.refuse()
		assert.equal([stage.asked, stage.idled], [0, 1])
	})

	test('it says when nothing waits any more', async () => {
		const stage = new Stage()
		const only = new Together(stage).query(STATEMENT)
		assert.is(stage.idled, 0)
		await stage.connect()
		await stage.answer()
		await only
		assert.is(stage.idled, 1)
	})
})
