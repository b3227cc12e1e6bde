/** `modelContract`: the requirements of `Model`, as cases for a test runner. */
import type { Case } from './case.ts'
import { COMPOSITE_KEY_TESTS } from './model/composite-keys.ts'
import { CROWD_TESTS, TRANSACTION_TESTS } from './model/concurrency.ts'
import { CONDITION_TESTS } from './model/conditions.ts'
import { EMBEDDED_TESTS } from './model/embedded.ts'
import { FACT_TESTS, KEY_TESTS } from './model/facts.ts'
import { type ModelContractOptions, toModelCase } from './model/fixture.ts'
import { LIST_TESTS } from './model/lists.ts'
import { MANY_TESTS } from './model/many.ts'
import { MATCHING_TESTS } from './model/matching.ts'
import { PAGE_TESTS } from './model/pages.ts'
import { REFUSAL_TESTS } from './model/refusals.ts'
import { toRelationCase } from './model/related-models.ts'
import { RELATION_TESTS } from './model/relations.ts'
import { TOTAL_TIME_TESTS } from './model/total-times.ts'
import { TOTAL_VALUE_TESTS } from './model/total-values.ts'
import { RELATED_TOTALS_TESTS, TOTALS_TESTS } from './model/totals.ts'
import { VALUE_TESTS } from './model/values.ts'
import { WRITE_TESTS } from './model/writes.ts'

const TESTS = [
	...FACT_TESTS,
	...VALUE_TESTS,
	...LIST_TESTS,
	...PAGE_TESTS,
	...CONDITION_TESTS,
	...MATCHING_TESTS,
	...WRITE_TESTS,
	...REFUSAL_TESTS,
	...MANY_TESTS,
	...TRANSACTION_TESTS,
	...KEY_TESTS,
	...COMPOSITE_KEY_TESTS,
	...TOTALS_TESTS,
	...TOTAL_VALUE_TESTS,
	...TOTAL_TIME_TESTS,
	...CROWD_TESTS,
]

/**
 * The contract of `Model` as cases for any test runner; each gets a model over an empty table with the fields of
 * `MODEL_FIELDS`.
 *
 *     const make = async () => {
 *       await pool.query('truncate contract restart identity')
 *       return OurModel.open(pool, 'contract')
 *     }
 *     for (const { name, run } of modelContract({ make, skip: ['nan'] })) test(name, run)
 *
 * Texts are compared only where all stores agree: in lower-case ASCII without trailing spaces. Exact conditions are tested
 * with other texts, too.
 */
export function modelContract(options: ModelContractOptions): Case[] {
	const cases = [
		...TESTS.map((test) => toModelCase(test, options)),
		...[...RELATION_TESTS, ...EMBEDDED_TESTS, ...RELATED_TOTALS_TESTS].map((test) =>
			toRelationCase(test, options),
		),
	]
	return cases.filter((made) => made !== undefined)
}
