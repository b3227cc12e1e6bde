/** The programs of the documentation are run, and do what the text says; `docs.test.ts` says how their blocks are marked. */
import { rmSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { freePorts, ROOT, runAll } from '../helpers/program.ts'
import { assertPrints, elsewhere, replay } from '../helpers/session.ts'
import { blocks, isProgram, makeFolder, programsIn, where } from './blocks.ts'

/**
 * A session, but for how many seconds of a window are left behind the requests before: it is that of a reader who types
 * fast, and this machine may stall for some of them. `limits/counters.test.ts` has them to the second.
 */
function butSecondsLeft(session: string): string {
	return session.includes('RateLimit-Policy: ')
		? session.replaceAll(/^Retry-After: \d+$/gm, 'Retry-After: …')
		: session
}

const folder = makeFolder()
const ports = await freePorts(blocks.filter(isProgram).length)
const programs = programsIn(folder, ports)

describe('documentation: programs', (test) => {
	let hosted: Awaited<ReturnType<typeof runAll>> | undefined

	test.before(async () => {
		hosted = await runAll(
			programs.map(({ file }) => file),
			folder,
		)
	})

	test.after(async () => {
		await hosted?.stop()
		rmSync(folder, { recursive: true, force: true })
	})

	for (const [at, { block, says, file }] of programs.entries()) {
		test(`${where(block)} does what the text says`, async () => {
			const report = hosted?.reports.get(file)
			assert.is(report?.failure, '')
			for (const said of says) {
				if (said.kind === 'console') await replay(butSecondsLeft(said.code), ports[at] ?? 0, ROOT)
				if (said.kind === 'text')
					assertPrints(report?.printed ?? '', elsewhere(said.code, ports[at] ?? 0), where(said))
			}
		})
	}
})
