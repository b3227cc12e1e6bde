/** A long run of what `gathering.ts` says. */
import { gathering } from './gathering.ts'

gathering('gatheringlong', { readers: 24, rounds: 60 })
