import * as assert from 'uvu/assert'
import { firstThenRest, jsonArray } from '../../lib/reply/stream.ts'
import { describe } from '../helpers/describe.ts'

/** Numbers from 0, which remember how far they were read and whether they were closed. */
function source(end: number, failAt = -1): AsyncIterable<unknown> & { read: number; closed: number } {
	const state = { read: 0, closed: 0 }
	const iterator = {
		async next(): Promise<IteratorResult<unknown>> {
			if (state.read === failAt) throw new Error('broken')
			if (state.read === end) return { done: true, value: undefined }
			state.read++
			return { done: false, value: state.read - 1 }
		},
		async return(): Promise<IteratorResult<unknown>> {
			state.closed++
			return { done: true, value: undefined }
		},
	}
	return Object.assign(state, { [Symbol.asyncIterator]: () => iterator })
}

async function pieces(records: AsyncIterable<unknown>, head = '[', tail = ']'): Promise<string[]> {
	const all: string[] = []
	for await (const piece of jsonArray(await firstThenRest(records), head, tail)) all.push(piece)
	return all
}

async function* of(...values: unknown[]): AsyncGenerator<unknown> {
	yield* values
}

/** How many turns the event loop has while something is done. */
async function turnsWithin(work: () => Promise<void>): Promise<number> {
	let turns = 0
	let isOver = false
	const count = (): void => {
		turns++
		if (!isOver) setImmediate(count)
	}
	setImmediate(count)
	await work()
	isOver = true
	return turns
}

describe('reply/stream: records', (test) => {
	const table: [unknown[], string][] = [
		[[], '[]'],
		[[1], '[1]'],
		[[1, 'a', null, { b: [2] }], '[1,"a",null,{"b":[2]}]'],
		[[undefined, () => 1, Number.NaN], '[null,null,null]'],
	]
	for (const [values, text] of table) {
		test(`${values.length} records are ${text}`, async () =>
			assert.equal(await pieces(of(...values)), [text]))
	}

	test('head and tail surround the records', async () => {
		assert.equal(await pieces(of(1, 2), '{"data":[', '],"meta":{}}'), ['{"data":[1,2],"meta":{}}'])
	})

	test('many records are sent in chunks of about 16 kB', async () => {
		const record = 'x'.repeat(1_000)
		const all = await pieces(of(...Array.from({ length: 100 }, () => record)))
		assert.is(all.length, 6)
		assert.ok(all.every((piece) => piece.length < 18_000))
		assert.equal(
			JSON.parse(all.join('')),
			Array.from({ length: 100 }, () => record),
		)
	})

	test('a source that never waits yields to the event loop every 16 kB', async () => {
		const turns = await turnsWithin(async () => void (await pieces(source(100_000))))
		const batches = Math.floor(Array.from({ length: 100_000 }, (_, at) => `${at}`).join('').length / 16_384)
		assert.ok(turns >= batches, `${turns} turns for ${batches} batches`)
	})

	test('a source with slow records yields by time, however short they are', async () => {
		async function* heavy(): AsyncGenerator<number> {
			for (let id = 0; id < 100; id++) {
				for (const end = performance.now() + 2; performance.now() < end; );
				yield id
			}
		}
		const turns = await turnsWithin(async () => void (await pieces(heavy())))
		assert.ok(turns >= 10, `${turns} turns`)
	})

	test('a record is passed on while the next is pending', async () => {
		const waits: (() => void)[] = []
		async function* feed(): AsyncGenerator<number> {
			yield 1
			yield 2
			await new Promise<void>((resolve) => waits.push(resolve))
			yield 3
		}
		const text = jsonArray(await firstThenRest(feed()), '[', ']')[Symbol.asyncIterator]()
		assert.equal(await text.next(), { done: false, value: '[1,2' })
		for (const resume of waits) resume()
		assert.equal(await text.next(), { done: false, value: ',3]' })
	})

	test('nothing is read ahead of the client', async () => {
		const records = source(1_000_000)
		const text = jsonArray(await firstThenRest(records), '[', ']')[Symbol.asyncIterator]()
		assert.is(records.read, 1)
		await text.next()
		const after = records.read
		assert.ok(after < 10_000)
		await new Promise(setImmediate)
		assert.is(records.read, after)
		await text.return?.(undefined)
	})

	test('a source read to its end is not closed again', async () => {
		const records = source(3)
		assert.equal(await pieces(records), ['[0,1,2]'])
		assert.is(records.closed, 0)
	})

	test('closing early closes the source once', async () => {
		const records = source(1_000_000)
		for await (const _ of jsonArray(await firstThenRest(records), '[', ']')) break
		assert.is(records.closed, 1)
	})

	test('closing before the first read closes the source too', async () => {
		const records = source(5)
		const text = jsonArray(await firstThenRest(records), '[', ']')[Symbol.asyncIterator]()
		await text.return?.(undefined)
		assert.is(records.closed, 1)
		assert.equal(await text.next(), { done: true, value: undefined })
		await text.return?.(undefined)
		assert.is(records.closed, 1)
	})

	for (const when of ['while a piece is taken', 'while a record is awaited']) {
		test(`closing ${when} closes a source that is pending`, async () => {
			const log: string[] = []
			let resume = (): void => {}
			async function* feed(): AsyncGenerator<number> {
				try {
					yield 1
					await new Promise<void>((resolve) => {
						resume = resolve
					})
					yield 2
				} finally {
					log.push('closed')
				}
			}
			const text = jsonArray(await firstThenRest(feed()), '[', ']')[Symbol.asyncIterator]()
			await text.next()
			const pending = when === 'while a piece is taken' ? undefined : text.next()
			const closing = text.return?.(undefined)
			resume()
			await pending
			await closing
			await new Promise(setImmediate)
			assert.equal(log, ['closed'])
		})
	}

	test("a source's error is passed on, and the source not closed", async () => {
		const records = source(9, 3)
		let message = ''
		await pieces(records).catch((error: Error) => {
			message = error.message
		})
		assert.is(message, 'broken')
		assert.is(records.closed, 0)
	})

	test('a record that JSON cannot represent closes the source', async () => {
		const records = of(1, 2n)
		let message = ''
		await pieces(records).catch((error: Error) => {
			message = error.message
		})
		assert.match(message, /BigInt/)
		assert.equal(await records.next(), { done: true, value: undefined })
	})

	test('an error in the first record is thrown before anything is written', async () => {
		let message = ''
		await firstThenRest(source(5, 0)).catch((error: Error) => {
			message = error.message
		})
		assert.is(message, 'broken')
	})

	test('a source without return() is dropped', async () => {
		const endless = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: 1 }) }) }
		for await (const piece of jsonArray(await firstThenRest(endless as AsyncIterable<unknown>), '[', ']')) {
			assert.ok(piece.startsWith('[1,1'))
			break
		}
	})
})
