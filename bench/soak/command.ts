/** The command: parses its arguments, shows progress, prints the verdict, writes the files, and sets the exit code. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { findingsText } from './findings-text.ts'
import { table } from './line.ts'
import { parseOptions, type SoakOptions } from './options.ts'
import { plot } from './plot.ts'
import { progressOn } from './progress.ts'
import { soak } from './soak.ts'
import { verdictOf } from './verdict.ts'

/** @param server the TypeScript file of the server's program */
export async function runCommand(words: readonly string[], server: string): Promise<void> {
	const stop = new AbortController()
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
	const progress = progressOn(process.stderr)
	try {
		const options = parseOptions(words)
		const title = titleOf(words)
		const run = await soak(options, { server, title, signal: stop.signal, onProgress: progress.show })
		progress.end()
		const verdict = verdictOf(run)
		process.stdout.write(`${title}\n\n${table(verdict)}\n`)
		if (run.findings.length > 0) process.stdout.write(`\n${findingsText(run)}\n`)
		write(options, plot(run), JSON.stringify({ ...run, verdict }, null, '\t'))
		process.exitCode = verdict.every(({ holds }) => holds !== false) ? 0 : 1
	} catch (error) {
		progress.end()
		// No stack: the message is for the user, such as a missing service, or an invalid option.
		process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
		process.exitCode = 1
	}
}

function titleOf(words: readonly string[]): string {
	const day = new Date().toISOString().slice(0, 10)
	return `npm run soak -- ${words.join(' ')} · Node ${process.version} · ${day}`
}

function write({ svg, json }: SoakOptions, picture: string, figures: string): void {
	const save = (file: string, text: string): void => {
		mkdirSync(dirname(file), { recursive: true })
		writeFileSync(file, text)
		process.stdout.write(`\nwritten: ${file}`)
	}
	save(svg, picture)
	if (json !== undefined) save(json, figures)
	process.stdout.write('\n')
}
