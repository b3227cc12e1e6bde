/** A long run of `differential.ts`: 1,000 trials with `VERBENA_TRIALS=4`. */
import { trials } from '../../helpers/trials.ts'
import { differential } from './differential.ts'

differential(trials(250))
