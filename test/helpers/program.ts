/** Runs programs as users do, as child processes, and never leaves one behind. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Report } from './host.ts'

/** The folder of this repository. */
export const ROOT: string = new URL('../..', import.meta.url).pathname.replace(/\/$/, '')

/** How a program is run: by default with the tests' Node, in this folder, with this environment. */
export interface Command {
	readonly args: readonly string[]
	readonly program?: string
	readonly cwd?: string
	readonly env?: Readonly<Record<string, string>>
}

/** A program that is running. */
export interface Running {
	readonly child: ChildProcess
	/** Its output so far, of both streams. */
	output(): string
	/** Resolves with its exit code. */
	readonly ended: Promise<number | null>
}

/** `node` with tsx, for a TypeScript file. */
export function typescript(file: string, ...args: string[]): string[] {
	return ['--import', import.meta.resolve('tsx'), file, ...args]
}

/** Runs a program to its end. */
export async function run(command: Command): Promise<{ code: number | null; output: string }> {
	const { ended, output } = start(command)
	const code = await ended
	return { code, output: output() }
}

/** Runs TypeScript files, named by absolute paths, in one process (`host.ts`) that lives until `stop` is called. */
export async function runAll(
	files: readonly string[],
	cwd: string = ROOT,
): Promise<{ reports: Map<string, Report>; stop: () => Promise<void> }> {
	const ports = await freePorts(files.length)
	const programs = JSON.stringify(files.map((file, at) => [file, ports[at]]))
	const { child, ended, output } = start({ args: typescript(`${ROOT}/test/helpers/host.ts`, programs), cwd })
	const reports = new Map<string, Report>()
	child.on('message', (report: Report) => reports.set(report.file, report))
	while (reports.size < files.length && child.exitCode === null && child.signalCode === null)
		await setTimeout(10)
	if (reports.size < files.length) throw new Error(`the host has ended early:\n${output()}`)
	return {
		reports,
		async stop() {
			child.kill('SIGKILL')
			await ended
		},
	}
}

/** Waits until a program has printed something. Throws its output when it ends, or after a minute. */
export async function untilPrinted({ output, ended }: Running, text: string): Promise<void> {
	const deadline = performance.now() + 60_000
	const end = ended.then((code) => ({ code }))
	while (!output().includes(text)) {
		const over = await Promise.race([end, setTimeout(20, undefined)])
		if (output().includes(text)) return
		if (over !== undefined || performance.now() > deadline)
			throw new Error(`${JSON.stringify(text)} was waited for, and this was printed:\n${output()}`)
	}
}

/**
 * Below the ephemeral ports (32768 and up on Linux, 49152 elsewhere), so that a port which is free now
 * isn't taken by an outgoing connection before the program listens.
 */
const PORTS = { first: 10_000, count: 20_000 }
/** Each test process starts at a different port. */
let tried = process.pid * 499

/** Unused ports of 127.0.0.1. */
export async function freePorts(count: number): Promise<number[]> {
	const ports: number[] = []
	while (ports.length < count) {
		const port = PORTS.first + (tried++ % PORTS.count)
		if (await isFree(port)) ports.push(port)
	}
	return ports
}

async function isFree(port: number): Promise<boolean> {
	const server = createServer().listen(port, '127.0.0.1')
	try {
		await once(server, 'listening')
	} catch {
		return false
	}
	server.close()
	await once(server, 'close')
	return true
}

/** Starts a program; the caller must end it. */
export function start({ args, program = process.execPath, cwd = ROOT, env = {} }: Command): Running {
	// Programs don't write coverage, and print no colours, as their output is compared.
	const { NODE_V8_COVERAGE: _coverage, NO_COLOR: _colors, ...inherited } = process.env
	const child = spawn(program, args, {
		cwd,
		env: { ...inherited, FORCE_COLOR: '0', ...env },
		stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
	})
	let output = ''
	child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
	child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text))
	const ended = new Promise<number | null>((resolve, reject) => {
		child.on('error', reject).on('close', (code) => resolve(code))
	})
	return { child, ended, output: () => output }
}
