/** Starts a program in a process group of its own, as a terminal does: its Ctrl-C reaches the group, and nobody else. */
import { spawn } from 'node:child_process'

export interface Alone {
	/** Everything it has printed so far, on both outputs. */
	output(): string
	/** Resolves with its exit code, null where a signal has ended it. */
	readonly ended: Promise<number | null>
	/** Sends a signal to the group. What has ended already is left alone. */
	signal(name: NodeJS.Signals): void
}

/** Starts it without a channel to us, which a reader's terminal hasn't either. */
export function startAlone(
	program: string,
	args: readonly string[],
	cwd: string,
	env: Readonly<Record<string, string>>,
): Alone {
	const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
	let output = ''
	child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
	child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
	const ended = new Promise<number | null>((resolve, reject) => {
		child.on('error', reject).on('close', (code) => resolve(code))
	})
	const signal = (name: NodeJS.Signals): void => {
		if (child.pid === undefined) return
		try {
			process.kill(-child.pid, name)
		} catch {
			// The last of the group has ended meanwhile.
		}
	}
	// A group of its own isn't ended with ours, and would keep its port when a run of the tests breaks off.
	const kill = () => signal('SIGKILL')
	process.once('exit', kill)
	child.once('close', () => process.off('exit', kill))
	return { output: () => output, ended, signal }
}
