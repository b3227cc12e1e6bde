/**
 * The contract of models, on PostgreSQL: all of it by pg, and by the other drivers those of its cases that could
 * differ. All of it by these: `contract.long.ts`.
 */
import { driversHere } from '../../helpers/postgres.ts'
import { contractBy } from './contract.ts'

/** Cases that a driver can affect: values, refusals, transactions, concurrency. */
const OF_DRIVERS = [
	/keeps/,
	/nullable field is null/,
	/is cut/,
	/infinit/,
	/NaN/,
	/come back together/,
	/empty array/,
	/never interpreted/,
	/^update/,
	/^delete returns/,
	/is refused/,
	/after a refusal/,
	/^a transaction/,
	/createMany/,
	/upsert/,
	/total counts/,
	/by the key alone/,
	/simultaneous (?!reads and writes)/,
	/complete list/,
]

const [first, ...others] = await driversHere()
if (first !== undefined) contractBy(first)
for (const name of others) contractBy(name, OF_DRIVERS)
