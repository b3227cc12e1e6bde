/** A long run of `same-answers.ts`. */
import { trials } from '../../helpers/trials.ts'
import { sameAnswers } from './same-answers.ts'

sameAnswers('samelong', trials(200))
