/** `npm run soak` with deliberately broken servers: see broken-server.ts. */
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../../bench/soak/command.ts'

await runCommand(process.argv.slice(2), fileURLToPath(new URL('broken-server.ts', import.meta.url)))
