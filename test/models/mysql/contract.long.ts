/**
 * The whole contract of models on MariaDB as if it were MySQL 8, of which `contract.test.ts` asks a part; and in sessions
 * of other settings those of its cases that could differ.
 */
import { mariadbIsHere } from '../../helpers/mariadb.ts'
import { contractWith, type Setting } from './contract.ts'

/** Cases that time zones, quotes, escapes and strictness could affect: values and refusals. */
const ONLY = [
	/keeps/,
	/compared/,
	/takes every character/,
	/never interpreted/,
	/is cut/,
	/is refused/,
	/pages by (at|timestamps)/,
	/^update/,
	/^create/,
	/come back together/,
	/a text (key|may)/,
]

const SETTINGS: readonly Setting[] = [
	{
		name: 'without returning, as on MySQL 8',
		table: 'myad_contract_long_0',
		settings: {},
		isMute: true,
	},
	{
		name: 'with another time zone, ANSI and no escapes',
		table: 'myad_contract_long_1',
		settings: {
			time_zone: '+05:30',
			sql_mode: 'ANSI,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE',
		},
		only: ONLY,
	},
	{
		name: 'that are not strict',
		table: 'myad_contract_long_2',
		settings: { time_zone: '-11:00', sql_mode: '' },
		only: ONLY,
	},
]

if (await mariadbIsHere()) SETTINGS.forEach(contractWith)
