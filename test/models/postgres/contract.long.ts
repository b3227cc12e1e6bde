/** The whole model contract on PostgreSQL, with the drivers for which `contract.test.ts` runs a part of it. */
import { driversHere } from '../../helpers/postgres.ts'
import { contractBy } from './contract.ts'

for (const name of (await driversHere()).slice(1)) contractBy(name)
