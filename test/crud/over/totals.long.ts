/** A long run of `totals.ts`. */
import { trials } from '../../helpers/trials.ts'
import { sameTotals } from './totals.ts'

sameTotals('totalslong', trials(250))
