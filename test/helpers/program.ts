/** Runs programs as users do, as child processes, and never leaves one behind. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Report } from './host.ts'

/** The folder of this repository. */
export const ROOT: string = new URL('../..', import.meta.url).pathname.replace(/\/$/, '')

/** What is run: by default with the Node that runs the tests, here, with this process's environment. */
export interface Command {
	readonly args: readonly string[]
	readonly program?: string
	readonly cwd?: string
	readonly env?: Readonly<Record<string, string>>
}

/** A program that is running. */
export interface Running {
	readonly child: ChildProcess
	/** Everything it has printed so far, on both outputs. */
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

/** Waits until a program has printed something. Throws what it has printed when it ends, or a minute has passed. */
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
 * Below those that systems give to connections (32768 and up on Linux, 49152 elsewhere): one of these that is free now
 * isn't taken by somebody's request before the program listens.
 */
const PORTS = { first: 10_000, count: 20_000 }
/** Each process of the tests begins elsewhere. */
let tried = process.pid * 499

/** Ports of 127.0.0.1 that nobody listens at. */
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

/** Starts a program; whoever calls this ends it. */
export function start({ args, program = process.execPath, cwd = ROOT, env = {} }: Command): Running {
	// What c8 tells its children must not reach those that measure nothing of lib/; nor are colours compared.
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
