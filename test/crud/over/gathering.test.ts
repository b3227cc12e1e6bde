/** A short run of `gathering.ts`. */
import { gathering } from './gathering.ts'

gathering('gathering', { readers: 8, rounds: 3 })
