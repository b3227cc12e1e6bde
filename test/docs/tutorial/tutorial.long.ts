/**
 * Runs the blocks of the tutorial in their order, as a reader would: in an empty folder, with the tarball to be published and
 * packages of the npm registry. Output that differs from the page fails, with the line of the page. `tutorial/page.ts` says
 * how blocks are marked.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { packed } from '../../helpers/packed.ts'
import { freePorts } from '../../helpers/program.ts'
import { assertPrints, elsewhere } from '../../helpers/session.ts'
import { FirstTerminal } from './first-terminal.ts'
import { PAGE, stepsOf, type Task, type Typed } from './page.ts'
import { SecondTerminal } from './second-terminal.ts'

/** What the page writes, and what is run for it: the version that is packed here isn't published yet. */
const INSTALL = /^npm install verbena$/gm
const CHECK = 'node node_modules/typescript/bin/tsc --noEmit --strict'
/** The same, with the types of all packages that are imported. */
const CHECK_ALL = `${CHECK} --skipLibCheck false`

describe('tutorial', (test) => {
	const steps = stepsOf()
	const folder = mkdtempSync(join(tmpdir(), 'verbena-tutorial-'))
	const first = new FirstTerminal()
	const second = new SecondTerminal(join(folder, 'reader'), join(folder, 'state'))
	let port = 0
	let tarball = ''
	let failed = ''

	test.before(async () => {
		mkdirSync(second.folder)
		port = (await freePorts(1))[0] ?? 0
		tarball = await packed()
	})

	test.after(async () => {
		await first.kill()
		rmSync(folder, { recursive: true, force: true })
	})

	/** Does what a block says. */
	async function perform(task: Task): Promise<void> {
		if (task.kind === 'file') write(join(second.folder, task.name), elsewhere(task.text, port))
		else if (task.kind === 'sh') await second.run(task.script.replaceAll(INSTALL, `npm install ${tarball}`))
		else for (const typed of task.session) await located(typed.line, () => type(task.kind, typed))
	}

	/** Types one line of a session, and compares what comes of it. */
	async function type(kind: 'console' | 'console server', { line, input, prints }: Typed): Promise<void> {
		const where = `${PAGE}:${line}: ${input}`
		const said = elsewhere(prints, port)
		const command = elsewhere(input, port)
		if (kind === 'console') {
			const printed = command.startsWith('curl ') ? second.curl(command) : second.run(command)
			assertPrints(await printed, said, where)
		} else if (input === '') await first.goesOn(said, where)
		else if (input === '^C') await first.interrupt(said, where)
		else if (input === '$') await first.ends(said, where)
		else await first.start(command, said, where, second)
	}

	for (const [at, { title, tasks }] of steps.entries()) {
		test(title, async () => {
			if (failed !== '') throw new Error(`not tried, as step "${failed}" has failed`)
			failed = title
			for (const task of tasks) await located(task.line, () => perform(task))
			await located(tasks.at(-1)?.line ?? 0, () => second.run(at + 1 < steps.length ? CHECK : CHECK_ALL))
			failed = ''
		})
	}

	test('has six steps, installs the package built here, and leaves no server running', () => {
		assert.is(failed, '')
		assert.is(steps.length, 6)
		const scripts = steps.flatMap(({ tasks }) =>
			tasks.flatMap((task) => (task.kind === 'sh' ? task.script : [])),
		)
		assert.is(scripts.join('\n').match(INSTALL)?.length, 1)
		assert.not(first.isRunning)
	})
})

function write(file: string, text: string): void {
	mkdirSync(dirname(file), { recursive: true })
	writeFileSync(file, text)
}

/** Says in what `work` throws which line of the page it is about. */
async function located(line: number, work: () => Promise<void> | Promise<string>): Promise<void> {
	try {
		await work()
	} catch (error) {
		if (error instanceof Error && !error.message.startsWith(`${PAGE}:`))
			error.message = `${PAGE}:${line}: ${error.message}`
		throw error
	}
}
