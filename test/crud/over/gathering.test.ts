/** A short run of what `gathering.ts` says. */
import { gathering } from './gathering.ts'

gathering('gathering', { readers: 12, rounds: 20 })
