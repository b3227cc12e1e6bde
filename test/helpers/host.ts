/**
 * A program that runs many others, one after the other, in one process, as starting Node for each would take most of the
 * time. Each gets its own port as PORT, and may keep listening.
 *
 *     node --import tsx test/helpers/host.ts '[["examples/01-hello.ts", 4000]]'
 *
 * Sends its parent a `Report` for each.
 */
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { format } from 'node:util'

/** The result of one program. */
export interface Report {
	readonly file: string
	readonly port: number
	/** Its output until its module was evaluated. */
	readonly printed: string
	/** The error it threw; empty if none. */
	readonly failure: string
}

if (process.argv[1] === import.meta.filename) {
	const programs = JSON.parse(process.argv[2] ?? '[]') as [string, number][] // as runAll has written it
	for (const [file, port] of programs) process.send?.(await runOne(file, port))
}

async function runOne(file: string, port: number): Promise<Report> {
	let printed = ''
	const { log } = console
	console.log = (...values: unknown[]) => (printed += `${format(...values)}\n`)
	process.env.PORT = String(port)
	try {
		await import(pathToFileURL(file).href)
		await setTimeout(10) // the callback of `listen` may print
		return { file, port, printed, failure: '' }
	} catch (error) {
		return { file, port, printed, failure: format(error) }
	} finally {
		console.log = log
	}
}
