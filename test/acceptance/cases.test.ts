/** The acceptance cases, with articles in memory and in PostgreSQL; `cases.long.ts` has the other databases. */
import { casesOn } from './cases.ts'

casesOn('memory')
casesOn('postgres')
