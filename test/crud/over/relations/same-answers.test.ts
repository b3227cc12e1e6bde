/** A short run of `same-answers.ts`. */
import { trials } from '../../../helpers/trials.ts'
import { sameRelatedAnswers } from './same-answers.ts'

sameRelatedAnswers('same', trials(10))
