import * as assert from 'uvu/assert'
import { type Borrower, Lending } from '../../../lib/models/sql/lending.ts'
import { describe } from '../../helpers/describe.ts'

type Got = (error: unknown, connection?: string) => void

/** A pool that answers when the test says so, and what became of those who wait. */
function stage() {
	const asked: Got[] = []
	const returned: string[] = []
	const seen: string[] = []
	const lending = new Lending<string>(
		(got) => void asked.push(got),
		(connection) => void returned.push(connection),
	)
	const borrower = (name: string) => ({
		lend: (connection: string) => void seen.push(`${name} has ${connection}`),
		fail: (error: unknown) => void seen.push(`${name}: ${String(error)}`),
	})
	return { asked, returned, seen, lending, borrower }
}

describe('lending', (test) => {
	test('serves those who wait in their order', () => {
		const { asked, seen, lending, borrower } = stage()
		lending.join(borrower('a'))
		lending.join(borrower('b'))
		assert.is(asked.length, 2)
		asked[1]?.(null, 'one')
		asked[0]?.(null, 'two')
		assert.equal(seen, ['a has one', 'b has two'])
	})

	test('gives the place of who has left to the next, and asks the pool for no more', () => {
		const { asked, returned, seen, lending, borrower } = stage()
		for (let round = 0; round < 100; round++) {
			const late = borrower('late')
			lending.join(late)
			lending.leave(late)
		}
		assert.is(asked.length, 1)
		lending.join(borrower('next'))
		assert.is(asked.length, 1)
		asked[0]?.(undefined, 'one')
		assert.equal([seen, returned], [['next has one'], []])
	})

	test('gives a connection back for which nobody waits any more, and keeps an error to itself', () => {
		const { asked, returned, seen, lending, borrower } = stage()
		for (const name of ['a', 'b']) {
			const late = borrower(name)
			lending.join(late)
			lending.leave(late)
			if (name === 'a') asked.pop()?.(null, 'one')
			else asked.pop()?.(new Error('refused'))
		}
		assert.equal([seen, returned], [[], ['one']])
	})

	test('tells of an error who has asked, or who has their place', () => {
		const { asked, seen, lending, borrower } = stage()
		lending.join(borrower('a'))
		lending.join(borrower('b'))
		asked[1]?.(new Error('full'))
		const late = borrower('late')
		lending.join(late)
		lending.leave(late)
		asked[2]?.(new Error('refused'))
		assert.equal(seen, ['b: Error: full', 'a: Error: refused'])
	})

	test('keeps the order where somebody in the middle leaves, and nothing of those who are gone', () => {
		const { asked, seen, lending, borrower } = stage()
		const all: Borrower<string>[] = ['a', 'b', 'c', 'd'].map(borrower)
		for (const one of all) lending.join(one)
		for (const at of [1, 1]) lending.leave(all[at] ?? borrower('nobody'))
		asked[0]?.(null, 'one')
		asked[3]?.(new Error('full'))
		lending.join(borrower('e'))
		asked[1]?.(null, 'two')
		asked[2]?.(null, 'three')
		assert.equal(seen, ['a has one', 'd: Error: full', 'c has two', 'e has three'])
		for (const { earlier, later, waiting } of all)
			assert.equal([earlier, later, waiting], [undefined, undefined, false])
	})

	test('tells of an error that the pool throws', () => {
		const { seen, borrower } = stage()
		const broken = new Lending<string>(
			() => {
				throw new Error('closed')
			},
			() => {},
		)
		broken.join(borrower('c'))
		assert.equal(seen, ['c: Error: closed'])
	})
})
