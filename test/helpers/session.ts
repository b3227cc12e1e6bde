/**
 * Shell sessions, as documentation and examples show them: lines that begin with `$ ` are commands, the others are their
 * output. `…` matches any text, within a line or over several. Commands are `curl …` and `npx tsx <file> …`; with `| sh`
 * after the latter, the curl line that it prints is run.
 */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { bundled } from './bundled.ts'
import { curl, wordsOf } from './curl.ts'
import { run } from './program.ts'

/** A command, and its expected output. */
export interface Command {
	readonly line: string
	readonly prints: string
}

/** The commands of a session. */
export function commandsOf(session: string): Command[] {
	const [, ...parts] = `\n${session}`.split(/\n\$ /)
	return parts.map((part) => {
		const [, line = '', prints = ''] = /^((?:.*\\\n)*.*)\n?([\s\S]*)$/.exec(part) ?? []
		return { line, prints: prints.trim() }
	})
}

/** Runs the commands of a session against `port` instead of 3000, and compares their output. */
export async function replay(session: string, port: number, directory: string): Promise<void> {
	for (const { line, prints } of commandsOf(session)) {
		const printed = await printedBy(elsewhere(line, port), directory)
		assertPrints(printed, elsewhere(prints, port), line)
	}
}

/** The output of a curl line, or of a program; with `| sh` the curl line that the program prints is run. */
async function printedBy(line: string, directory: string): Promise<string> {
	const [, command, isSent] = /^npx tsx (.*?)( \| sh)?$/.exec(line) ?? []
	if (command === undefined) return curl(line, directory)
	const [file = '', ...args] = wordsOf(command)
	const { output } = await run({ args: await bundled(join(directory, file), ...args), cwd: directory })
	return isSent === undefined ? output : curl(output.trim(), directory)
}

/** Fails unless `printed` is the expected output. */
export function assertPrints(printed: string, said: string, what: string): void {
	const pattern = said
		.trim()
		.split('…')
		.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
		.join('[\\s\\S]*?')
	if (new RegExp(`^${pattern}$`).test(printed.trim())) return
	assert.is(printed.trim(), said.trim(), what)
}

/** A text with the documentation's port, 3000, replaced. */
export function elsewhere(text: string, port: number): string {
	return text.replaceAll(/\b3000\b/g, String(port))
}
