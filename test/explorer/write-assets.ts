/** `npm run explorer`: writes the script and the style of the explorer's pages into `lib/explorer/assets.ts`. */
import { writeFileSync } from 'node:fs'
import { ROOT } from '../helpers/program.ts'
import { assetsModule } from './bundle.ts'

writeFileSync(`${ROOT}/lib/explorer/assets.ts`, await assetsModule())
