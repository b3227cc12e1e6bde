/** A short run of what `same-answers.ts` says. */
import { sameAnswers } from './same-answers.ts'

sameAnswers('same', 40)
