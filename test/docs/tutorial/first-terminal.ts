/** The terminal in which the reader's server runs, one at a time. All that it prints must be said by the page. */
import { setTimeout } from 'node:timers/promises'
import { assertPrints } from '../../helpers/session.ts'
import { type Alone, startAlone } from './alone.ts'

/** For what should come at once, on a machine that does much else. In ms. */
const PATIENCE = 60_000

export class FirstTerminal {
	#server: Alone | undefined
	/** How much of what it has printed has been compared. */
	#read = 0

	get isRunning(): boolean {
		return this.#server !== undefined
	}

	/** Starts a server by a command, and compares what it prints at first. */
	async start(
		command: string,
		prints: string,
		where: string,
		{ folder, env }: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
	): Promise<void> {
		if (this.#server !== undefined) throw new Error('a server is running: the page must stop it first')
		this.#server = startAlone('bash', ['-c', `exec ${command}`], folder, env)
		this.#read = 0
		await this.goesOn(prints, where)
	}

	/** Waits until the server has printed as many lines as the page says, and compares them. */
	async goesOn(prints: string, where: string): Promise<void> {
		const server = this.#running()
		const lines = prints.split('\n').length - 1
		const deadline = performance.now() + PATIENCE
		const end = server.ended.then(() => 'ended')
		let isOver = false
		while (!isOver && this.#unread().split('\n').length <= lines && performance.now() < deadline)
			isOver = (await Promise.race([end, setTimeout(20)])) === 'ended'
		this.#compare(prints, where)
	}

	/** Ctrl-C: the server ends, and prints so much before. */
	interrupt(prints: string, where: string): Promise<void> {
		this.#running().signal('SIGINT')
		return this.ends(prints, where)
	}

	/** Waits until the server has ended by itself. */
	async ends(prints: string, where: string): Promise<void> {
		const over = new AbortController()
		const late = setTimeout(PATIENCE, 'late', { signal: over.signal }).catch(() => 'ended')
		if ((await Promise.race([this.#running().ended, late])) === 'late')
			throw new Error(`the server hasn't ended, and has printed:\n${this.#unread()}`)
		over.abort()
		this.#compare(prints, where)
		this.#server = undefined
	}

	/** Ends what is still running, where a step has failed. */
	async kill(): Promise<void> {
		this.#server?.signal('SIGKILL')
		await this.#server?.ended
		this.#server = undefined
	}

	#compare(prints: string, where: string): void {
		assertPrints(this.#unread(), prints, where)
		this.#read = this.#running().output().length
	}

	#unread(): string {
		return this.#running().output().slice(this.#read)
	}

	#running(): Alone {
		if (this.#server === undefined) throw new Error('no server is running in the first terminal')
		return this.#server
	}
}
