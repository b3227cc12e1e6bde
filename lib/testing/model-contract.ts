/** `modelContract`: the requirements of `Model`, as cases for a test runner. */
import type { Case } from './case.ts'
import { CROWD_SCENES, TRANSACTION_SCENES } from './model/concurrency.ts'
import { CONDITION_SCENES } from './model/conditions.ts'
import { FACT_SCENES, KEY_SCENES } from './model/facts.ts'
import { LIST_SCENES } from './model/lists.ts'
import { MATCHING_SCENES } from './model/matching.ts'
import { PAGE_SCENES } from './model/pages.ts'
import { REFUSAL_SCENES } from './model/refusals.ts'
import { type ModelContractOptions, toModelCase } from './model/stage.ts'
import { VALUE_SCENES } from './model/values.ts'
import { WRITE_SCENES } from './model/writes.ts'

const SCENES = [
	...FACT_SCENES,
	...VALUE_SCENES,
	...LIST_SCENES,
	...PAGE_SCENES,
	...CONDITION_SCENES,
	...MATCHING_SCENES,
	...WRITE_SCENES,
	...REFUSAL_SCENES,
	...TRANSACTION_SCENES,
	...KEY_SCENES,
	...CROWD_SCENES,
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
	return SCENES.map((scene) => toModelCase(scene, options)).filter((made) => made !== undefined)
}
