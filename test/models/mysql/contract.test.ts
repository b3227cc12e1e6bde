/**
 * The contract of models, on MariaDB; without `returning` those of its cases that could differ. All of it without
 * `returning`, and in sessions of other settings: `contract.long.ts`.
 */
import { mariadbIsHere } from '../../helpers/mariadb.ts'
import { contractWith, type Setting } from './contract.ts'

/** Cases that read back what `returning` would have returned. */
const WRITTEN = [
	// Thousands are created one by one: nothing new.
	/^create(?!Many creates thousands)/,
	/keeps/,
	/nullable field is null/,
	/come back together/,
	/^update/,
	/^the version/,
	/^a record (of|that does not exist|outside)/,
	/^of many/,
	/^delete/,
	/unique/,
	/is refused/,
	/after a refusal/,
	/transaction/,
	/key (is|may|beyond)/,
	/as soon as it is created/,
]

const SETTINGS: readonly Setting[] = [
	{ name: 'as the server is set', table: 'myad_contract_0', settings: {} },
	{
		name: 'without returning, as on MySQL 8',
		table: 'myad_contract_1',
		settings: {},
		isMute: true,
		only: WRITTEN,
	},
]

if (await mariadbIsHere()) SETTINGS.forEach(contractWith)
