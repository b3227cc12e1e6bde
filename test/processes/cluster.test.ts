/** The end of a server whose connections are handed over by another process. */
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { ROOT, start, typescript } from '../helpers/program.ts'
import { RawClient, requestText } from '../helpers/raw.ts'

/** Many more than are handed over at once. */
const CLIENTS = 200

describe('workers of node:cluster', (test) => {
	test('who has connected and asked before the last one closes is answered', async () => {
		const { child, ended, output } = start({ args: typescript(`${ROOT}/test/processes/cluster-program.ts`) })
		const clients: RawClient[] = []
		try {
			const [port] = await Promise.race([once(child, 'message'), ended.then(() => [])])
			assert.type(port, 'number', output())
			// All of them shall still wait when the workers are told.
			child.kill('SIGSTOP')
			while (clients.length < CLIENTS) clients.push(new RawClient(Number(port)))
			await Promise.all(clients.map((client) => client.send(requestText('GET /now'))))
			child.send('end')
			child.kill('SIGCONT')
			const answers = await Promise.allSettled(clients.map((client) => client.response()))
			const lost = answers.filter((one) => one.status === 'rejected')
			assert.is(lost.length, 0)
			const pids = answers.map((one) => one.status === 'fulfilled' && one.value.body.toString())
			assert.is(new Set(pids).size, 2, 'both have answered')
			assert.is(await ended, 0)
		} finally {
			for (const client of clients) client.close()
			child.kill('SIGKILL')
			await ended
		}
	})
})
