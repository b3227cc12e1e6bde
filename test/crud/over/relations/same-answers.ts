/** The same requests through relations get the same answers, whatever the store. `MemoryModel` is the oracle. */
import { deepStrictEqual, ok } from 'node:assert/strict'
import fc from 'fast-check'
import { describe } from '../../../helpers/describe.ts'
import { anyRows, anySteps } from './any-request.ts'
import { Player, type Told } from './play.ts'
import { openStores, type Store } from './stores.ts'

/** Sequences per test. */
const PART = 100

export function sameRelatedAnswers(prefix: string, numRuns: number): void {
	describe('relations over all stores', (test) => {
		let stores: readonly Store[] = []
		let batches = 0
		test.before(async () => {
			stores = await openStores(prefix)
		})
		test.after(async () => {
			for (const store of stores) await store.close()
		})

		// In parts: each test has the same time limit, however many sequences and however slow the machine.
		for (let left = numRuns; left > 0; left -= PART) {
			const part = Math.min(left, PART)
			test(`${part} sequences of requests get the same answers from each, ${left} left`, async () => {
				batches += await play(stores, part)
				// Chance decides about fewer.
				if (left === part && numRuns >= 100) ok(batches > numRuns / 20, `only ${batches} batches`)
			})
		}
	})
}

/** Returns how many batches were answered. */
async function play(stores: readonly Store[], numRuns: number): Promise<number> {
	const [first, ...others] = stores.map((store) => new Player(store))
	let batches = 0
	await fc.assert(
		fc.asyncProperty(anyRows, anySteps, async (rows, steps) => {
			const expected = (await first?.play(rows, steps)) ?? []
			for (const { status, request, body } of expected) {
				ok(status < 500, `${status}: ${request} ${JSON.stringify(body)}`)
				if (status === 200 && request.includes('/batch')) batches++
			}
			for (const other of others) assertSame(other.store.name, await other.play(rows, steps), expected)
		}),
		{
			numRuns,
			includeErrorInReport: true,
			// Shrinking a failure ends before the test's time limit, so that the failure is reported.
			interruptAfterTimeLimit: 300_000,
			markInterruptAsFailure: true,
		},
	)
	return batches
}

/** Fails at the first response that differs. */
function assertSame(name: string, told: readonly Told[], expected: readonly Told[]): void {
	for (const [at, one] of expected.entries())
		deepStrictEqual(told[at], one, `${name} answers otherwise: ${JSON.stringify([one, told[at]], null, 1)}`)
	deepStrictEqual(told.length, expected.length, `${name} has more pages`)
}
