/** A short run of `same-answers.ts`. */
import { trials } from '../../helpers/trials.ts'
import { sameAnswers, samePartAnswers } from './same-answers.ts'

sameAnswers('same', trials(5))
samePartAnswers('same', trials(5))
