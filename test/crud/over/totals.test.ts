/** A short run of `totals.ts`. */
import { trials } from '../../helpers/trials.ts'
import { sameTotals } from './totals.ts'

sameTotals('totals', trials(8))
