/** `modelContract`: all that a `Model` promises, for whoever writes one. */
import type { Case } from './case.ts'
import { CONDITION_SCENES } from './model/conditions.ts'
import { CROWD_SCENES } from './model/crowd.ts'
import { FACT_SCENES } from './model/facts.ts'
import { KEY_SCENES } from './model/keys.ts'
import { LIST_SCENES } from './model/lists.ts'
import { MATCHING_SCENES } from './model/matching.ts'
import { PAGE_SCENES } from './model/pages.ts'
import { REFUSAL_SCENES } from './model/refusals.ts'
import { type ModelContractOptions, toModelCase } from './model/stage.ts'
import { TRANSACTION_SCENES } from './model/transactions.ts'
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
 * The promises of `Model` as cases that any test runner can loop over; each is given a model over an empty
 * table with the fields of `MODEL_FIELDS`.
 *
 *     const make = async () => {
 *       await pool.query('truncate contract restart identity')
 *       return OurModel.open(pool, 'contract')
 *     }
 *     for (const { name, run } of modelContract({ make, skip: ['nan'] })) test(name, run)
 *
 * Texts are only compared where every store agrees: within ASCII, in lower case, without spaces at the end; by
 * conditions that are exact, others too.
 */
export function modelContract(options: ModelContractOptions): Case[] {
	return SCENES.map((scene) => toModelCase(scene, options)).filter((made) => made !== undefined)
}
