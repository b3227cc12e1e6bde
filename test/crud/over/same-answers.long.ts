/** A long run of `same-answers.ts`: a thousand sequences of each with `VERBENA_TRIALS=20`. */
import { trials } from '../../helpers/trials.ts'
import { sameAnswers, samePartAnswers } from './same-answers.ts'

sameAnswers('samelong', trials(50))
samePartAnswers('samelong', trials(50))
