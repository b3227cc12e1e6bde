/** The report on a hanging process says what it waits for. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { describe } from './describe.ts'
import { reports } from './handles.ts'

async function linesOfHanging(program: string): Promise<string> {
	const reporting = reports()
	const child = spawn(process.execPath, [...reporting.args, '-e', program], {
		stdio: ['ignore', 'pipe', 'ignore'],
	})
	try {
		await once(child.stdout, 'data')
		return (await reporting.of(child)).join('\n')
	} finally {
		child.kill('SIGKILL')
		reporting.remove()
	}
}

describe('reports of a process that hangs', (test) => {
	test('name its sockets and timers', async () => {
		const lines = await linesOfHanging(
			"require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })",
		)
		assert.match(lines, /^tcp .*from \d+/m)
		assert.match(await linesOfHanging("setTimeout(() => {}, 1e6); console.log('up')"), /^timer/m)
	})

	test('name its children', async () => {
		const lines = await linesOfHanging(
			"require('child_process').spawn('sleep', ['5']).on('spawn', () => console.log('up'))",
		)
		assert.match(lines, /^process pid \d+/m)
	})
})
