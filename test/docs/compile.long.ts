/** The documentation's programs and modules compile. */
import { rmSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { ROOT, run } from '../helpers/program.ts'
import { blocks, isProgram, makeFolder, programsIn } from './blocks.ts'

describe('documentation: types', (test) => {
	test('all programs compile', async () => {
		const folder = makeFolder()
		try {
			const ports = blocks.filter(isProgram).map((_, at) => 10_000 + at)
			assert.ok(programsIn(folder, ports).length > 30)
			const { output } = await run({ args: [`${ROOT}/node_modules/typescript/bin/tsc`, '-p', folder] })
			assert.is(output, '')
		} finally {
			rmSync(folder, { recursive: true, force: true })
		}
	})
})
