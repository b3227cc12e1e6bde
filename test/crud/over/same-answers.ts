/** The same requests get the same answers, whatever the store; `MemoryModel` is the oracle. Run short by the `.test.ts`, long by the `.long.ts`. */
import { deepStrictEqual, ok } from 'node:assert/strict'
import fc from 'fast-check'
import { describe } from '../../helpers/describe.ts'
import { serveAll } from './all-things.ts'
import { type Step, wholeSequence } from './any-request.ts'
import { PARTS, partSequence, serveParts } from './parts.ts'
import { Player, type Told } from './play.ts'
import { openStores, type Store, type TableKind, THINGS } from './stores.ts'

export function sameAnswers(prefix: string, numRuns: number): void {
	same(
		'CrudHandler over all stores',
		prefix,
		numRuns,
		THINGS,
		wholeSequence,
		(store) => new Player(store, serveAll),
	)
}

/** Each record's id is the same in all stores, so `Location` and everything else is compared as it is. */
export function samePartAnswers(prefix: string, numRuns: number): void {
	const playerOf = (store: Store) => new Player(store, serveParts, true)
	same('a key of several columns over all stores', `${prefix}p`, numRuns, PARTS, partSequence, playerOf)
}

function same(
	name: string,
	prefix: string,
	numRuns: number,
	kind: TableKind,
	sequences: fc.Arbitrary<readonly Step[]>,
	playerOf: (store: Store) => Player,
): void {
	describe(name, (test) => {
		let stores: readonly Store[] = []
		test.before(async () => {
			stores = await openStores(prefix, kind)
		})
		test.after(async () => {
			for (const store of stores) await store.close()
		})

		test(`${numRuns} sequences of requests get the same answers from each`, async () => {
			const [first, ...others] = stores.map(playerOf)
			let [batches, totals] = [0, 0]
			await fc.assert(
				fc.asyncProperty(sequences, async (steps) => {
					const expected = (await first?.play(steps)) ?? []
					for (const { status, request } of expected) {
						ok(status < 500 || status === 501, `${status}: ${request}`)
						if (status === 200 && request.includes('/batch')) batches++
						if (status === 200 && request.includes('/totals')) totals++
					}
					for (const other of others) assertSame(other.store.name, await other.play(steps), expected)
				}),
				{ numRuns, includeErrorInReport: true },
			)
			// Chance decides about fewer.
			if (kind === THINGS && numRuns >= 100)
				ok(Math.min(batches, totals) > numRuns / 10, `only ${batches} batches, ${totals} totals`)
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
