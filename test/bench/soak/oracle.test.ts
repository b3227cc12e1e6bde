/** The oracle of the soak: which responses it accepts, and which differences it finds in the database. */
import * as assert from 'uvu/assert'
import { Ledger } from '../../../bench/soak/load/ledger.ts'
import { like, someNumber, someText, wrongWith } from '../../../bench/soak/load/wanted.ts'
import { describe } from '../../helpers/describe.ts'

describe('the oracle of expected answers', (test) => {
	const table: [wanted: unknown, found: unknown, fits: boolean][] = [
		[{ a: 1 }, { a: 1 }, true],
		[{ a: 1 }, { a: '1' }, false],
		[{ a: 1 }, { a: 1, b: 2 }, false],
		[{ a: 1, b: undefined }, { a: 1 }, false],
		[{ a: [1, 2] }, { a: [2, 1] }, false],
		[[1], { 0: 1 }, false],
		[{ id: someNumber, name: someText }, { id: 5, name: 'Sage' }, true],
		[{ id: someNumber }, { id: '5' }, false],
		[{ id: someNumber }, {}, false],
		[null, undefined, false],
	]
	for (const [wanted, found, fits] of table) {
		test(`${JSON.stringify(found)} for ${JSON.stringify(wanted)}: ${fits}`, () =>
			assert.is(like(wanted, found), fits))
	}

	test('reports each difference', () => {
		const answer = { status: 500, headers: { etag: '"2"' }, body: Buffer.from('{"a":2}') }
		const wanted = {
			status: 200,
			headers: { etag: '"1"', link: undefined },
			json: { a: 1 },
			bytes: Buffer.of(1),
		}
		assert.equal(wrongWith(answer, wanted), [
			'status 500 instead of 200',
			'x-content-type-options: none instead of nosniff',
			'etag: "2" instead of "1"',
			'the body is another',
			'the bytes are others',
		])
	})

	test('reports a leaked cause in any answer', () => {
		const body = Buffer.from('{"error":"the password of the database is verbena"}')
		const answer = { status: 500, headers: { 'x-content-type-options': 'nosniff' }, body }
		assert.equal(wrongWith(answer, { status: 500 }), ['the body tells what nobody may read'])
	})
})

describe('the ledger', (test) => {
	const row = (id: number) => ({ id, shelf: 1, title: `title ${id}`, rank: 5, note: null, revision: 1 })

	test('finds lost, unconfirmed and different records', async () => {
		const ledger = new Ledger(1)
		await ledger.withShelf(async (shelf) => {
			for (const id of [1, 2, 3, 4]) ledger.created(shelf, row(id))
			ledger.deleted(shelf, 4)
		})
		const counts = { creates: 4, deletes: 1 }
		assert.equal(ledger.balance([row(1), row(2), row(3)]), {
			...counts,
			rows: 3,
			lost: 0,
			unknown: 0,
			changed: 0,
		})
		assert.equal(ledger.balance([row(1), { ...row(2), revision: 2 }, row(4)]), {
			...{ ...counts, rows: 3 },
			...{ lost: 1, unknown: 1, changed: 1 },
		})
	})

	test('lends a shelf to one at a time, in order of arrival', async () => {
		const ledger = new Ledger(1)
		const order: string[] = []
		const use = (name: string) =>
			ledger.withShelf(async () => {
				order.push(`${name} begins`)
				await undefined
				order.push(`${name} ends`)
			})
		await Promise.all([use('one'), use('two')])
		assert.equal(order, ['one begins', 'one ends', 'two begins', 'two ends'])
	})
})
