/** `npm run soak`: mixed load on two processes with PostgreSQL and Redis for minutes; checks every response, prints a verdict. */
import { fileURLToPath } from 'node:url'
import { runCommand } from './command.ts'

await runCommand(process.argv.slice(2), fileURLToPath(new URL('server/main.ts', import.meta.url)))
