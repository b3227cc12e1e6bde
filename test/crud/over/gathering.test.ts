/** A short run of what `gathering.ts` says. */
import { gathering } from './gathering.ts'

gathering('gathering', { readers: 8, rounds: 8 })
