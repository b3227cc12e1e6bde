/** A long run of what `same-answers.ts` says. */
import { sameAnswers } from './same-answers.ts'

sameAnswers('samelong', 1_000)
