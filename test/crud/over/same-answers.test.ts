/** A short run of what `same-answers.ts` says. */
import { trials } from '../../helpers/trials.ts'
import { sameAnswers } from './same-answers.ts'

sameAnswers('same', trials(15))
