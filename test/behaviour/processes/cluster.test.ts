/** Closing a server whose connections are handed over by a cluster's primary process. */
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { bundled } from '../../helpers/bundled.ts'
import { describe } from '../../helpers/describe.ts'
import { ROOT, type Running, start } from '../../helpers/program.ts'
import { RawClient, requestText } from '../../helpers/raw.ts'

/** Many more than the primary hands over at once. */
const CLIENTS = 200

describe('workers of node:cluster', (test) => {
	test('connections queued before the last worker closes are answered', () => closeAll(async () => {}))

	// As when a virtual machine is paused by its host; this was seen to lose nine of ten.
	test('queued connections are answered even after all workers were stopped for longer than the grace period', () =>
		closeAll(async (pids) => {
			await setTimeout(20)
			for (const pid of pids) tell(pid, 'SIGSTOP')
			await setTimeout(2_500)
			for (const pid of pids) tell(pid, 'SIGCONT')
		}))

	test('a worker being replaced answers readiness as the others do on kept-alive connections, and closes them', () =>
		running(async (program, [port = 0]) => {
			const clients = await ofOneWorker(port)
			const [asking, probing] = clients
			try {
				const { pid } = asking
				await asking.client.send(requestText('GET /closing'))
				const probe = requestText('GET /health/ready')
				// Sent in part before the close, so that the connection isn't idle then.
				await probing.client.send(probe.slice(0, -2))
				program.child.send(pid)
				assert.is((await asking.client.response()).status, 200)
				await probing.client.send(probe.slice(-2))
				const answer = await probing.client.response()
				assert.equal([answer.status, answer.headers.connection], [200, 'close'])
			} finally {
				for (const { client } of clients) client.close()
			}
		}))
})

interface Connected {
	readonly client: RawClient
	readonly pid: number
}

/** Two connections to the same worker. */
async function ofOneWorker(port: number): Promise<[Connected, Connected]> {
	const found: Connected[] = []
	for (;;) {
		const client = new RawClient(port)
		await client.send(requestText('GET /now'))
		const { data: pid } = (await client.response()).json() as { data: number }
		const other = found.find((one) => one.pid === pid)
		if (other === undefined) found.push({ client, pid })
		else {
			for (const one of found) if (one !== other) one.client.close()
			return [other, { client, pid }]
		}
	}
}

/** Runs the program; `use` receives its port and the pids of its workers. */
async function running(use: (program: Running, found: readonly number[]) => Promise<void>): Promise<void> {
	const program = start({ args: await bundled(`${ROOT}/test/behaviour/processes/cluster-program.ts`) })
	const { child, ended, output } = program
	try {
		const [found] = await Promise.race([once(child, 'message'), ended.then(() => [])])
		assert.ok(Array.isArray(found), output())
		await use(program, found.map(Number))
	} finally {
		if (child.connected) child.send('end')
		await Promise.race([ended, setTimeout(20_000)])
		child.kill('SIGKILL')
		await ended
	}
}

/** Closes all workers while `CLIENTS` are queued in the kernel; `meanwhile` receives the pids of all processes. */
async function closeAll(meanwhile: (pids: readonly number[]) => Promise<void>): Promise<void> {
	await running(async ({ child, ended }, [port, ...workers]) => {
		const clients: RawClient[] = []
		try {
			// All of them must still be queued when the workers are told to close.
			child.kill('SIGSTOP')
			while (clients.length < CLIENTS) clients.push(new RawClient(port ?? 0))
			await Promise.all(clients.map((client) => client.send(requestText('GET /now'))))
			child.send('end')
			child.kill('SIGCONT')
			await meanwhile([child.pid ?? 0, ...workers])
			const answers = await Promise.allSettled(clients.map((client) => client.response()))
			const lost = answers.filter((one) => one.status === 'rejected')
			assert.is(lost.length, 0)
			const pids = answers.map((one) => one.status === 'fulfilled' && one.value.body.toString())
			assert.is(new Set(pids).size, 2, 'both have answered')
			assert.is(await ended, 0)
		} finally {
			for (const client of clients) client.close()
		}
	})
}

/** Sends a signal to a process, which may have exited already. */
function tell(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
	try {
		process.kill(pid, signal)
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
	}
}
