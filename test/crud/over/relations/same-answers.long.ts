/** A long run of `same-answers.ts`: a thousand sequences with `VERBENA_TRIALS=2.5`. */
import { trials } from '../../../helpers/trials.ts'
import { sameRelatedAnswers } from './same-answers.ts'

sameRelatedAnswers('samelong', trials(400))
