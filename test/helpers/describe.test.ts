/**
 * A suite fails when one of its hooks does; uvu alone would skip its tests and report success. An unhandled rejection fails
 * one test; without `describe` it would end the process, and with it all other tests.
 */
import { readdirSync, readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { bundled } from './bundled.ts'
import { describe } from './describe.ts'
import { ROOT, run } from './program.ts'

describe('describe', (test) => {
	const table: [hooks: string[], code: number, said: RegExp][] = [
		[[], 0, /Passed: +3/],
		[['before'], 1, /"passes".*there is no store.*Passed: +0/s],
		// The `after` hook fails only because `before` did, so the error of `before` is reported.
		[['before', 'after'], 1, /"passes".*there is no store.*Passed: +0/s],
		[['after'], 1, /nothing to be closed/],
		[['stray'], 1, /"passes".*nobody listens.*Passed: +2/s],
		[['strays'], 1, /"passes".*nobody listens.*"passes too".*nor here.*Passed: +1/s],
		[['hang'], 1, /"passes too".*not ended within 1000 ms; this process waits for .*Passed: +2/s],
		[['details'], 1, /"passes too".*RestError: Bad Request \[\].*Passed: +2/s],
		[['nothing'], 1, /"passes too".*thrown, and not an Error: undefined.*Passed: +2/s],
		[['late'], 1, /Passed: +3.*nobody listens/s],
	]
	for (const [hooks, code, said] of table) {
		test(`ends with ${code} where this fails: ${hooks.join(' and ') || 'none'}`, async () => {
			const ended = await run({
				args: await bundled(`${ROOT}/test/helpers/broken-suite.ts`, ...hooks),
				env: { VERBENA_TEST_LIMIT: '1000' },
			})
			const output = ended.output.replaceAll(/\x1b\[\d+m/g, '')
			assert.is(ended.code, code, output)
			assert.match(output, said)
		})
	}
})

describe('assert.throws', (test) => {
	test('is given a pattern or a function: uvu takes a text for what to say, and calls a class, which refuses nothing', () => {
		const asserted =
			/assert\.throws\((?:.*, (?:['"`].*['"`]|\w*Error)\)$|\n\t+\(\) => .*,\n\t+(?:['"`].*|\w*Error),?$)/m
		const files = readdirSync(`${ROOT}/test`, { recursive: true, encoding: 'utf8' })
		const found = files.filter(
			(file) => file.endsWith('.ts') && asserted.test(readFileSync(`${ROOT}/test/${file}`, 'utf8')),
		)
		assert.equal(found, [])
	})
})
