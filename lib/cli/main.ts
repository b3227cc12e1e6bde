#!/usr/bin/env node
/** The command `verbena`: serves the tables of a database. See `arguments.ts` for what it takes. */
import { readFileSync } from 'node:fs'
import { commandOf, USAGE, UsageError } from './arguments.ts'
import { sourceOf } from './databases.ts'
import { serve } from './serve.ts'
import { written } from './write.ts'

/** Of the package: this file is in `dist/cli` or `lib/cli`. */
function version(): string {
	const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
		version: string
	}
	return version
}

try {
	const command = commandOf(process.argv.slice(2), process.env)
	if (command === 'help') console.log(USAGE)
	else if (command === 'version') console.log(version())
	else if (command.action !== 'serve')
		process.stdout.write(await written(command, await sourceOf(command, process.cwd()), console.error))
	else {
		const serving = await serve(command, await sourceOf(command, process.cwd()), console.log)
		// A second signal ends the program at once.
		const stop = () => void serving.close().then(() => console.log('Closed'))
		process.once('SIGINT', stop).once('SIGTERM', stop)
	}
} catch (error) {
	console.error(error instanceof UsageError ? error.message : error)
	process.exitCode = 1
}
