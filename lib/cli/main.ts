#!/usr/bin/env node
/** The command `verbena`: serves the tables of a database. See `arguments.ts` for what it takes. */
import { readFileSync } from 'node:fs'
import { errorText } from '../base/error-text.ts'
import { parseCommand, USAGE, UsageError } from './arguments.ts'
import { sourceOf } from './databases.ts'
import { serve } from './serve.ts'
import { written } from './write.ts'

/** The package's version: this file is in `dist/cli` or `lib/cli`. */
function version(): string {
	const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
		version: string
	}
	return version
}

function fail(error: unknown): void {
	console.error(error instanceof UsageError ? error.message : errorText(error))
	process.exitCode = 1
}

// The program that reads the output may exit early, as in `verbena … | head`: EPIPE is ignored, and serving goes on.
for (const stream of [process.stdout, process.stderr])
	stream.on('error', (error: NodeJS.ErrnoException) => {
		if (error.code !== 'EPIPE') throw error
	})

try {
	const command = parseCommand(process.argv.slice(2), process.env)
	if (command === 'help') console.log(USAGE)
	else if (command === 'version') console.log(version())
	else if (command.action !== 'serve')
		process.stdout.write(await written(command, await sourceOf(command, process.cwd()), console.error))
	else {
		const serving = await serve(command, await sourceOf(command, process.cwd()), console.log)
		const stop = () => {
			// A second signal ends the program at once.
			process.off('SIGINT', stop).off('SIGTERM', stop)
			serving.close().then(() => console.log('Closed'), fail)
		}
		process.on('SIGINT', stop).on('SIGTERM', stop)
	}
} catch (error) {
	fail(error)
}
