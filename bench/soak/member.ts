/** One of the server processes, as seen by the soak, its parent. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { environment } from '../child.ts'
import type { Assignment, Closed, Order, Report, Sample } from './reports.ts'

/** How a process has ended: a code, or a signal's name. */
export type Exit = number | string

/** Timeout of a report; longer than any garbage collection or stall of the machine. */
const TIMEOUT_MS = 60_000

export class Member {
	/** `A` or `B`: its name in the verdict and the plot. */
	readonly name: string
	readonly #child: ChildProcess
	readonly #exited: Promise<Exit>
	#port = 0

	private constructor(name: string, child: ChildProcess) {
		this.name = name
		this.#child = child
		this.#exited = new Promise((resolve) => {
			child.once('error', (error) => resolve(error.message))
			child.once('exit', (code, signal) => resolve(signal ?? code ?? 'no code'))
		})
	}

	/** Starts a process, and waits until it listens. */
	static async start(name: string, program: string, assignment: Assignment): Promise<Member> {
		// Not as an argument: other users can read those, and the database's URL may contain a password.
		const env = { ...environment(), SOAK_ASSIGNMENT: JSON.stringify(assignment) }
		const stdio: StdioOptions = ['ignore', 2, 2, 'ipc']
		const child = spawn(process.execPath, ['--expose-gc', program], { stdio, env })
		const member = new Member(name, child)
		try {
			const { port } = await member.#next('listening')
			member.#port = port
			return member
		} catch (error) {
			await member.kill()
			throw error
		}
	}

	get port(): number {
		return this.#port
	}

	async sample(): Promise<Sample> {
		const report = this.#next('sample')
		this.#order('sample')
		return (await report).sample
	}

	/** Has it write a heap snapshot; returns the file. */
	async snapshot(): Promise<string> {
		const report = this.#next('snapshot')
		this.#order('snapshot')
		return (await report).file
	}

	/** Closes the server, and waits for the process to exit by itself. `closed` is `undefined` if it sent no report. */
	async close(): Promise<{ closed: Closed | undefined; exit: Exit }> {
		const report = this.#next('closed').catch(() => undefined)
		this.#order('close')
		const closed = (await report)?.closed
		const late = sleep(TIMEOUT_MS, 'still running', { ref: false })
		const exit = await Promise.race([this.#exited, late])
		await this.kill()
		return { closed, exit }
	}

	/** Kills the process, if it is still running. */
	async kill(): Promise<void> {
		if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL')
		await this.#exited
	}

	#order(order: Order): void {
		if (this.#child.connected) this.#child.send(order)
	}

	#next<Kind extends Report['kind']>(kind: Kind): Promise<Extract<Report, { kind: Kind }>> {
		return new Promise((resolve, reject) => {
			const listener = (report: Report): void => {
				if (report.kind !== kind) return
				settle()
				// Checked above.
				resolve(report as Extract<Report, { kind: Kind }>)
			}
			const late = setTimeout(() => fail(`has not told "${kind}" for ${TIMEOUT_MS / 1_000} s`), TIMEOUT_MS)
			const settle = (): void => {
				clearTimeout(late)
				this.#child.off('message', listener)
			}
			const fail = (what: string): void => {
				settle()
				reject(new Error(`server ${this.name} ${what}`))
			}
			this.#child.on('message', listener)
			void this.#exited.then((exit) => fail(`has ended early (${exit})`))
		})
	}
}
