/** A few of the races of `many-races.ts`. */
import { trials } from '../../helpers/trials.ts'
import { manyRaces } from './many-races.ts'

await manyRaces(trials(8))
