/** A long run of `same-answers.ts`. */
import { trials } from '../../helpers/trials.ts'
import { sameAnswers, samePartAnswers } from './same-answers.ts'

sameAnswers('samelong', trials(200))
samePartAnswers('samelong', trials(200))
