/** The acceptance cases of records, on the databases that `cases.test.ts` leaves out. */
import { casesOn } from './cases.ts'

casesOn('sqlite')
casesOn('mariadb')
