/** A long run of `same-answers.ts`. */
import { trials } from '../../../helpers/trials.ts'
import { sameRelatedAnswers } from './same-answers.ts'

sameRelatedAnswers('samelong', trials(1_000))
