/** A long run of `gathering.ts`. */
import { trials } from '../../helpers/trials.ts'
import { gathering } from './gathering.ts'

gathering('gatheringlong', { readers: 24, rounds: trials(30) })
