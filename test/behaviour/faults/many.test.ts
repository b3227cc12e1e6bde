/** createMany, updateMany, removeMany and transactions whose connection is ended in one of their statements. */
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'
import { endedWithin, manyHandlers, OPERATIONS } from './many.ts'
import { atRelated } from './related.ts'
import { relatedCases } from './related-stores.ts'

const cases = (await relatedCases()).filter(({ isSteady }) => isSteady)

for (const { name, open } of cases)
	describe(`many at once over connections that are ended, ${name}`, (test) => {
		for (const operation of OPERATIONS)
			test(`${operation.name}: all is stored or nothing, as the answer says, and a repeat doubles nothing`, () =>
				atRelated(
					open(),
					async (site) => {
						const seen = await endedWithin(site, operation, trials(operation.locks([]).length + 1))
						// Only the one that is ended at any time may be done before.
						assert.ok((seen.ok ?? 0) < 2, JSON.stringify(seen))
					},
					manyHandlers,
				))
	})
