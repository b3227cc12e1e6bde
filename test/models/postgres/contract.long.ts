/** The whole contract of models on PostgreSQL by the drivers that `contract.test.ts` asks for a part of it. */
import { driversHere } from '../../helpers/postgres.ts'
import { contractBy } from './contract.ts'

for (const name of (await driversHere()).slice(1)) contractBy(name)
