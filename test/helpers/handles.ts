/** Finds out what keeps a test process alive, from the diagnostic report that Node writes on a signal. */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

const SIGNAL = 'SIGUSR2'
/** Time to wait for the report, in milliseconds: other processes may take all cores. */
const TIMEOUT = 20_000

/** The parts of a report that are used; see Node's documentation, "Diagnostic report". */
interface Report {
	readonly javascriptStack?: { readonly stack?: readonly string[] }
	readonly libuv?: readonly Handle[]
}

interface Handle {
	readonly type: string
	readonly is_active?: boolean
	readonly is_referenced?: boolean
	readonly localEndpoint?: { readonly port?: number } | null
	readonly remoteEndpoint?: { readonly port?: number } | null
	readonly pid?: number
	readonly fd?: number
}

/** A folder for the reports of one process, and the `node` options that make it write them there. */
export interface Reports {
	readonly args: readonly string[]
	/** Its stack and the handles it waits for, one per line, or that it doesn't respond. */
	of(child: ChildProcess): Promise<string[]>
	remove(): void
}

export function reports(): Reports {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-report-'))
	const file = join(folder, 'report.json')
	return {
		args: [
			'--report-on-signal',
			`--report-signal=${SIGNAL}`,
			`--report-directory=${folder}`,
			'--report-filename=report.json',
		],
		async of(child) {
			child.kill(SIGNAL)
			for (const end = performance.now() + TIMEOUT; performance.now() < end; ) {
				const report = reportIn(file)
				if (report !== undefined) return linesOf(report)
				await setTimeout(100)
			}
			return ['its loop does not turn: it has written no report of itself']
		},
		remove: () => rmSync(folder, { recursive: true, force: true }),
	}
}

/** The report, once it is complete. */
function reportIn(file: string): Report | undefined {
	try {
		return JSON.parse(readFileSync(file, 'utf8')) as Report
	} catch {
		return undefined
	}
}

function linesOf({ javascriptStack, libuv = [] }: Report): string[] {
	const held = libuv.filter((handle) => handle.is_active === true && handle.is_referenced === true)
	return [...(javascriptStack?.stack ?? []), ...held.map(lineOf)]
}

function lineOf({ type, pid, fd, localEndpoint, remoteEndpoint }: Handle): string {
	const ends = { pid, fd, from: localEndpoint?.port, to: remoteEndpoint?.port }
	const said = Object.entries(ends).flatMap(([name, value]) =>
		value === undefined ? [] : [`${name} ${value}`],
	)
	return [type, ...said].join(' ')
}
