/** A short run of `differential.ts`. */
import { trials } from '../../helpers/trials.ts'
import { differential } from './differential.ts'

differential(trials(10))
