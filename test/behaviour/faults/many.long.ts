/** createMany, updateMany, removeMany and transactions whose connection is ended, each many times. */
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { trials } from '../../helpers/trials.ts'
import { endedWithin, manyHandlers, OPERATIONS } from './many.ts'
import { atRelated } from './related.ts'
import { relatedCases } from './related-stores.ts'

const cases = (await relatedCases()).filter(({ isSteady }) => isSteady)

for (const { name, open } of cases)
	describe(`many at once over connections that are ended many times, ${name}`, (test) => {
		for (const operation of OPERATIONS)
			test(`${operation.name}: all is stored or nothing, as the answer says, and a repeat doubles nothing`, () =>
				atRelated(
					open(),
					async (site) => {
						const { ok: _, ...refused } = await endedWithin(site, operation, trials(50))
						assert.ok(Object.keys(refused).length > 0)
					},
					manyHandlers,
				))
	})
