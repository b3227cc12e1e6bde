/** The queue of waiters for a pool's connections, and connections made stale by a failover. */
import * as assert from 'uvu/assert'
import { Deadlines } from '../../../lib/base/deadlines.ts'
import { type GetConnection, Renewal, WaitQueue } from '../../../lib/models/sql/pool.ts'
import { describe } from '../../helpers/describe.ts'

type Got = (error: unknown, connection?: string) => void

/** A pool controlled by the test, with a controlled clock. */
function stage(ask?: GetConnection<string>) {
	const asked: Got[] = []
	const returned: string[] = []
	const seen: string[] = []
	let now = 0
	const deadlines = new Deadlines(() => now, 1_000)
	const queue = new WaitQueue<string>(
		deadlines,
		ask ?? ((got) => void asked.push(got)),
		(connection) => void returned.push(connection),
	)
	/** `late` borrowers expire by `pass`. */
	const borrow = (name: string, time = 1_000) =>
		queue.acquire(
			(connection) => void seen.push(`${name} has ${connection}`),
			({ cause }) => void seen.push(`${name}: ${String(cause)}`),
			time,
		)
	const pass = () => {
		now += 10
		deadlines.sweep()
	}
	return { asked, returned, seen, borrow, pass, deadlines }
}

describe('WaitQueue', (test) => {
	test('serves in order of arrival', () => {
		const { asked, seen, borrow, deadlines } = stage()
		borrow('a')
		borrow('b')
		assert.is(asked.length, 2)
		asked[1]?.(null, 'one')
		asked[0]?.(null, 'two')
		assert.equal(seen, ['a has one', 'b has two'])
		assert.is(deadlines.size, 0)
	})

	test("passes an expired waiter's place to the next, without another request to the pool", () => {
		const { asked, returned, seen, borrow, pass } = stage()
		for (let round = 0; round < 100; round++) {
			borrow('late', 10)
			pass()
		}
		assert.is(asked.length, 1)
		borrow('next')
		assert.is(asked.length, 1)
		asked[0]?.(undefined, 'one')
		assert.equal(seen.slice(100), ['next has one'])
		assert.equal([new Set(seen.slice(0, 100)), returned], [new Set(['late: undefined']), []])
	})

	test('returns a connection that nobody waits for, and swallows a late error', () => {
		const { asked, returned, seen, borrow, pass } = stage()
		for (const name of ['a', 'b']) {
			borrow(name, 10)
			pass()
			if (name === 'a') asked.pop()?.(null, 'one')
			else asked.pop()?.(new Error('refused'))
		}
		assert.equal([seen, returned], [['a: undefined', 'b: undefined'], ['one']])
	})

	test('fails the waiter that asked, or the one that took its place', () => {
		const { asked, seen, borrow, pass } = stage()
		borrow('a')
		borrow('b')
		asked[1]?.(new Error('full'))
		borrow('late', 10)
		pass()
		asked[2]?.(new Error('refused'))
		assert.equal(seen, ['b: Error: full', 'late: undefined', 'a: Error: refused'])
	})

	test('keeps the order when a waiter in the middle expires', () => {
		const { asked, seen, borrow, pass } = stage()
		for (const name of ['a', 'b', 'c', 'd']) borrow(name, name === 'b' ? 10 : 1_000)
		pass()
		asked[0]?.(null, 'one')
		asked[3]?.(new Error('full'))
		borrow('e')
		asked[1]?.(null, 'two')
		asked[2]?.(null, 'three')
		assert.equal(seen, ['b: undefined', 'a has one', 'd: Error: full', 'c has two', 'e has three'])
	})

	test('passes on an error thrown by the pool', () => {
		const { seen, borrow } = stage(() => {
			throw new Error('closed')
		})
		borrow('c')
		assert.equal(seen, ['c: Error: closed'])
	})
})

describe('Renewal', (test) => {
	test('marks the connections seen so far as stale, not newer ones', async () => {
		const renewal = new Renewal()
		const [old, fresh] = [{}, {}]
		assert.ok(renewal.isFresh(old))
		await new Promise((resolve) => setTimeout(resolve, 5))
		assert.ok(renewal.renew())
		await new Promise((resolve) => setTimeout(resolve, 5))
		assert.equal([renewal.isFresh(old), renewal.isFresh(fresh)], [false, true])
	})

	test('renews at most twice a second', () => {
		const renewal = new Renewal()
		assert.equal([renewal.renew(), renewal.renew()], [true, false])
	})
})
