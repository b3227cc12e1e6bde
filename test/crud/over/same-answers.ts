/** The same requests get the same answers, whatever the store. Run short by the `.test.ts`, long by the `.long.ts`. */
import { deepStrictEqual, ok } from 'node:assert/strict'
import fc from 'fast-check'
import { describe } from '../../helpers/describe.ts'
import { sequence } from './any-request.ts'
import { Player, type Told } from './play.ts'
import { openStores, type Store } from './stores.ts'

export function sameAnswers(prefix: string, numRuns: number): void {
	describe('CrudHandler over all stores', (test) => {
		let stores: readonly Store[] = []
		test.before(async () => {
			stores = await openStores(prefix)
		})
		test.after(async () => {
			for (const store of stores) await store.close()
		})

		test(`${numRuns} sequences of requests get the same answers from each`, async () => {
			const [first, ...others] = stores.map((store) => new Player(store))
			await fc.assert(
				fc.asyncProperty(sequence, async (steps) => {
					const expected = (await first?.play(steps)) ?? []
					for (const { status, request } of expected)
						ok(status < 500 || status === 501, `${status}: ${request}`)
					for (const other of others) assertSame(other.store.name, await other.play(steps), expected)
				}),
				{ numRuns, includeErrorInReport: true },
			)
		})
	})
}

/** Fails at the first response that differs. */
function assertSame(name: string, told: readonly Told[], expected: readonly Told[]): void {
	for (const [at, one] of expected.entries()) {
		const pair = JSON.stringify([one, told[at]], null, 1)
		deepStrictEqual(told[at], one, `${name} answers otherwise: ${pair}`)
	}
	deepStrictEqual(told.length, expected.length, `${name} has more pages`)
}
