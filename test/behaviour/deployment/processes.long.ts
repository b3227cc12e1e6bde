/** The recipes of docs/deployment.md for process managers: PID 1 of a container, systemd. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { freePorts, ROOT, run, start, typescript, untilPrinted } from '../../helpers/program.ts'
import { recipe } from './proxies.ts'

const SYSTEMD = '/usr/bin/systemd-analyze'

/** The program of the page, with the sources in place of the package. */
function program(folder: string, port: number): string {
	const code = recipe('## A program that can be stopped', 'ts')
		.replace("'verbena'", `'${ROOT}/lib/index.ts'`)
		.replace('.listen(3000', `.listen(${port}`)
	writeFileSync(join(folder, 'main.mts'), code)
	return join(folder, 'main.mts')
}

describe('deployment: processes', (test) => {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-deployment-'))
	test.after(() => rmSync(folder, { recursive: true, force: true }))

	// Namespaces need rights that not every machine gives; what is missing of Debian `.ci/run` installs.
	const canUnshare = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0
	if (!canUnshare) console.error('unshare is not allowed here: nothing is run as PID 1')
	const hasSystemd = existsSync(SYSTEMD) || process.env.CI === 'true'
	if (!hasSystemd) console.error(`${SYSTEMD} is missing: apt-get install systemd`)
	const asFirst = canUnshare ? test : test.skip
	const verified = hasSystemd ? test : test.skip

	asFirst('as PID 1 of a container it stops on SIGTERM, after answering running requests', async () => {
		const [port = 0] = await freePorts(1)
		const args = ['--pid', '--fork', '--kill-child', '--mount-proc', process.execPath]
		const running = start({ program: 'unshare', args: [...args, ...typescript(program(folder, port))] })
		try {
			await untilPrinted(running, `http://`)
			const slow = fetch(`http://127.0.0.1:${port}/slow`).then((response) => response.status)
			await fetch(`http://127.0.0.1:${port}/pid`).then(async (response) => {
				assert.equal(await response.json(), { success: true, data: 1 })
			})
			process.kill(childOf(running.child.pid), 'SIGTERM')
			assert.is(await slow, 200)
			assert.is(await running.ended, 0, running.output())
		} finally {
			running.child.kill('SIGKILL')
			await running.ended
		}
	})

	verified('the systemd unit is accepted by systemd', async () => {
		const unit = recipe('## systemd', 'ini')
			.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`)
			.replace(/^User=.*$/m, 'User=daemon')
			.replace(/^WorkingDirectory=.*$/m, 'WorkingDirectory=/tmp')
			.replace(/^EnvironmentFile=.*$/m, '')
		writeFileSync(join(folder, 'seeds.service'), unit)
		const { code, output } = await run({
			program: SYSTEMD,
			args: ['verify', join(folder, 'seeds.service')],
		})
		assert.is(code, 0, output)
		assert.not.match(output, /seeds\.service/)
	})
})

/** The processes a program has started: `unshare` starts a namespace's PID 1, which has another id outside. */
function childOf(pid: number | undefined): number {
	return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
}
