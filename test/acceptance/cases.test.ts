/** The cases with articles in memory and in PostgreSQL; on the other databases: `cases.long.ts`. */
import { casesOn } from './cases.ts'

casesOn('memory')
casesOn('postgres')
