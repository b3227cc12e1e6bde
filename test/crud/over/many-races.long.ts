/** Many of the races of `many-races.ts`: 1,000 of each with `VERBENA_TRIALS=4`. */
import { trials } from '../../helpers/trials.ts'
import { manyRaces } from './many-races.ts'

await manyRaces(trials(250))
