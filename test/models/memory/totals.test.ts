/** Totals of memory models: the order of groups. */
import * as assert from 'uvu/assert'
import { MemoryModel } from '../../../lib/models/memory/memory-model.ts'
import type { TotalsKey } from '../../../lib/models/model.ts'
import { describe } from '../../helpers/describe.ts'

describe('totals of a memory model', (test) => {
	const orders = [
		['year', ['2026', '9999', '10000']],
		['quarter', ['2026-Q2', '9999-Q4', '10000-Q1']],
		['month', ['2026-06', '9999-12', '10000-01']],
		['day', ['2026-06-01', '9999-12-30', '10000-01-01']],
		['hour', ['2026-06-01T02', '9999-12-30T01', '10000-01-01T00']],
	] as const
	for (const [part, sorted] of orders)
		test(`the ${part} of a time that a time zone moves into the year 10000 is the last`, async () => {
			const model = new MemoryModel('event', {
				fields: { id: 'integer', at: 'timestamp' },
				key: 'id',
				rows: ['9999-12-31T23:30:00Z', '2026-06-01T00:00:01Z', '9999-12-30T00:00:00Z'].map((at) => ({ at })),
			})
			const by: TotalsKey[] = [{ name: 'at', field: 'at', part }]
			for (const descending of [false, true]) {
				const order = [{ key: 0, descending }]
				const query = { by, totals: [], where: undefined, having: undefined, order, limit: 10 }
				const { json } = await model.totals({ ...query, timeZone: 'Europe/Berlin' })
				const found = JSON.parse(json).map((group: { at: unknown }) => group.at)
				assert.equal(found, descending ? sorted.toReversed() : sorted)
			}
		})
})
