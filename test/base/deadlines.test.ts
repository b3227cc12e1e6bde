import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { Deadlines, type Due } from '../../lib/base/deadlines.ts'
import { describe } from '../helpers/describe.ts'
import { until } from '../helpers/listening.ts'

/** Deadlines on a manual clock, and items that record when they expire. */
function stage(): {
	deadlines: Deadlines
	expired: string[]
	at(time: number): void
	item(name: string, due: number): Due
} {
	let now = 0
	const expired: string[] = []
	return {
		deadlines: new Deadlines(() => now, 1_000_000),
		expired,
		at: (time) => {
			now = time
		},
		item: (name, due) => ({ due, expire: () => void expired.push(name) }),
	}
}

describe('deadlines', (test) => {
	test('a late item expires once, and is removed', () => {
		const { deadlines, expired, at, item } = stage()
		deadlines.add(item('a', 10))
		at(9)
		deadlines.sweep()
		assert.equal([expired, deadlines.size], [[], 1])
		at(10)
		deadlines.sweep()
		deadlines.sweep()
		assert.equal([expired, deadlines.size], [['a'], 0])
		deadlines.stop()
	})

	test('a deleted item never expires; Infinity is never due', () => {
		const { deadlines, expired, at, item } = stage()
		const early = item('early', 5)
		deadlines.add(early)
		deadlines.add(item('never', Number.POSITIVE_INFINITY))
		deadlines.delete(early)
		at(1e12)
		deadlines.sweep()
		assert.equal([expired, deadlines.size], [[], 1])
		deadlines.stop()
	})

	test('a deadline can be extended', () => {
		const { deadlines, expired, at, item } = stage()
		const it = item('a', 5)
		deadlines.add(it)
		it.due = 50
		at(10)
		deadlines.sweep()
		assert.equal(expired, [])
		at(50)
		deadlines.sweep()
		assert.equal(expired, ['a'])
	})

	test('expireIfLate expires one item when it is late, once', () => {
		const { deadlines, expired, at, item } = stage()
		const [a, b] = [item('a', 10), item('b', 10)]
		deadlines.add(a)
		deadlines.add(b)
		deadlines.expireIfLate(a)
		assert.equal(expired, [])
		at(10)
		deadlines.expireIfLate(a)
		deadlines.expireIfLate(a)
		assert.equal([expired, deadlines.size], [['a'], 1])
		deadlines.stop()
	})

	test('values lists the items, oldest first', () => {
		const { deadlines, item } = stage()
		const [a, b] = [item('a', 9), item('b', 1)]
		deadlines.add(a)
		deadlines.add(b)
		assert.equal([...deadlines.values()], [a, b])
		deadlines.stop()
	})

	for (const [keepsAlive, isHeld] of [
		[true, [false, true, true, false, true, false]],
		[false, [false, false, false, false, false, false]],
		[undefined, [false, false, false, false, false, false]],
	] as const) {
		test(`keepsAlive: ${keepsAlive} ${keepsAlive ? 'holds' : "doesn't hold"} the process while there are items`, () => {
			const deadlines = new Deadlines(() => 0, 1_000_000, keepsAlive === undefined ? {} : { keepsAlive })
			const before = process.getActiveResourcesInfo().length
			const held = (): boolean => process.getActiveResourcesInfo().length > before
			const [a, b]: Due[] = [0, 1].map(() => ({ due: 5, expire() {} }))
			if (a === undefined || b === undefined) throw new Error('there are two')
			const seen = [held()]
			for (const step of [
				() => deadlines.add(a),
				() => deadlines.add(b),
				() => [deadlines.delete(a), deadlines.delete(b)],
				() => deadlines.add(a),
				() => [deadlines.delete(a), deadlines.sweep()],
			]) {
				step()
				seen.push(held())
			}
			assert.equal(seen, isHeld)
		})
	}

	test('the timer runs while there are items, and starts again', async () => {
		const deadlines = new Deadlines(() => performance.now(), 8)
		// The timer of the deadlines doesn't keep the process alive.
		const alive = setInterval(() => {}, 1_000)
		for (let round = 0; round < 2; round++) {
			await new Promise<void>((expire) => deadlines.add({ due: 0, expire }))
			assert.is(deadlines.size, 0)
		}
		clearInterval(alive)
	})

	test('data that arrived in time is not late after an event-loop stall', async () => {
		const deadlines = new Deadlines(() => performance.now(), 40)
		const server = createServer().listen(0, '127.0.0.1')
		await once(server, 'listening')
		const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
		const [socket] = (await once(server, 'connection')) as [Socket]
		try {
			let became = ''
			const answer: Due = { due: performance.now() + 200, expire: () => (became = 'late') }
			deadlines.add(answer)
			client.once('data', () => {
				deadlines.delete(answer)
				became ||= 'in time'
			})
			await new Promise<void>((resolve) => {
				// In a timer's callback, after which the others run.
				setTimeout(() => {
					socket.write('an answer', () => resolve())
					Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
				}, 20)
			})
			await until(() => became !== '', 'either')
			assert.is(became, 'in time')
		} finally {
			client.destroy()
			socket.destroy()
			server.close()
		}
	})
})
