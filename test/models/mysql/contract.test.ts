/**
 * The contract of models, on MariaDB; in sessions of other settings those of its cases that could differ. All of
 * it without `returning`: `contract.long.ts`.
 */
import { mariadbIsHere } from '../../helpers/mariadb.ts'
import { contractWith, type Setting } from './contract.ts'

/** What time zones, quotes, escapes and strictness could change: values on their way, and what is refused. */
const ONLY =
	/keeps|compared|takes every character|never more than a text|is cut|is refused|pages by (at|timestamps)|^update|^create|come back together|a text (key|may)/

/** What is read in another way where what was written isn't returned. */
const WRITTEN =
	/^create|keeps|be null is null|come back together|^update|^the version|^a record (of|that is|outside)|^of many|^delete|unique|is refused|after a refusal|transaction|key (is|may|beyond)|just created/

const SETTINGS: readonly Setting[] = [
	{ name: 'as the server is set', table: 'myad_contract_0', settings: {} },
	{
		name: 'with another time zone, ANSI and no escapes',
		table: 'myad_contract_1',
		settings: {
			time_zone: '+05:30',
			sql_mode: 'ANSI,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE',
		},
		only: ONLY,
	},
	{
		name: 'that are not strict',
		table: 'myad_contract_2',
		settings: { time_zone: '-11:00', sql_mode: '' },
		only: ONLY,
	},
	{
		name: 'without returning, as on MySQL 8',
		table: 'myad_contract_3',
		settings: {},
		isMute: true,
		only: WRITTEN,
	},
]

if (await mariadbIsHere()) SETTINGS.forEach(contractWith)
