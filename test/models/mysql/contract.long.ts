/** The whole contract of models on MariaDB as if it were MySQL 8, of which `contract.test.ts` asks a part. */
import { mariadbIsHere } from '../../helpers/mariadb.ts'
import { contractWith } from './contract.ts'

const MUTE = { name: 'without returning, as on MySQL 8', settings: {}, isMute: true }
if (await mariadbIsHere()) contractWith({ ...MUTE, table: 'myad_contract_long' })
