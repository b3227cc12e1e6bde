/** Starts child processes to measure, and exchanges messages with them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Pin } from './cores.ts'

/** A process that answers every message with one message. */
export interface Child {
	/** Sends a message and waits for the answer. One at a time. */
	ask<T>(message: unknown): Promise<T>
	/** Ends the process and waits until it is gone. */
	stop(): Promise<void>
}

/** The environment of measured processes: production, without variables that make Node load code. */
export function environment(): NodeJS.ProcessEnv {
	const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...rest } = process.env
	return { ...rest, NODE_ENV: 'production' }
}

/** Command line of a plain JavaScript file of this folder. */
export function commandOf(pin: Pin, file: string, words: readonly string[] = []): [string, ...string[]] {
	const path = fileURLToPath(new URL(file, import.meta.url))
	const [first, ...rest] = [...pin, process.execPath, path, ...words]
	return [first as string, ...rest] // process.execPath is always there
}

/** Runs a plain JavaScript file of this folder with a channel for messages. */
export function startChild(pin: Pin, file: string, words: readonly string[] = []): Child {
	const [program, ...rest] = commandOf(pin, file, words)
	const child = spawn(program, rest, { stdio: ['ignore', 2, 2, 'ipc'], env: environment() })
	return {
		ask: (message) => askChild(child, message, `${file} ${words.join(' ')}`),
		async stop() {
			if (child.exitCode !== null || child.signalCode !== null) return
			const gone = once(child, 'exit')
			child.kill()
			await gone
		},
	}
}

function askChild<T>(child: ChildProcess, message: unknown, title: string): Promise<T> {
	return new Promise((done, fail) => {
		const gone = (): void => fail(new Error(`${title} has ended before it answered`))
		child.once('exit', gone)
		child.once('message', (answer) => {
			child.off('exit', gone)
			done(answer as T) // what our own files under servers/ and micro/ send
		})
		child.send(message as object)
	})
}
