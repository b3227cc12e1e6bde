/** A short soak passes, and each deliberate fault fails its own line. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Line } from '../../../bench/soak/line.ts'
import type { Run } from '../../../bench/soak/record.ts'
import { describe } from '../../helpers/describe.ts'
import { driversHere } from '../../helpers/postgres.ts'
import { ROOT, run, typescript } from '../../helpers/program.ts'
import { redisIsHere } from '../../helpers/redis.ts'
import { elementsOf } from './xml.ts'

interface Result {
	readonly code: number | null
	readonly output: string
	readonly svg: string
	readonly run: Run
	/** What fails, in the order of the table. */
	readonly failing: readonly string[]
}

/** Runs a soak to its end. */
async function soak(program: string, words: string, env: Record<string, string> = {}): Promise<Result> {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-soak-'))
	try {
		const [svg, json] = [join(folder, 'soak.svg'), join(folder, 'soak.json')]
		const args = typescript(`${ROOT}/${program}`, ...words.split(' '), '--svg', svg, '--json', json)
		const { code, output } = await run({ args, env })
		assert.match(output, /wrong answers/, output)
		const found = JSON.parse(readFileSync(json, 'utf8')) as Run & { verdict: Line[] } // as command.ts writes it
		const failing = found.verdict.flatMap(({ what, holds }) => (holds === false ? [what] : []))
		assert.is(code, failing.length === 0 ? 0 : 1)
		return { code, output, svg: readFileSync(svg, 'utf8'), run: found, failing }
	} finally {
		rmSync(folder, { recursive: true, force: true })
	}
}

/** How late a loop is is the machine's doing, too: where nothing blocks it, its line may say either. */
function butLoops(failing: readonly string[]): string[] {
	return failing.filter((what) => !what.startsWith('event loop'))
}

if ((await driversHere()).includes('pg') && (await redisIsHere()))
	describe('a soak', (test) => {
		let [sound, broken]: [Result?, Result?] = []
		test.before(async () => {
			// All faults at once, beside the sound one: each has a line of its own, and the other lines hold.
			const env = { SOAK_FAULTS: 'leak,rejection,wrong,blocked' }
			;[sound, broken] = await Promise.all([
				soak('bench/soak/main.ts', '--minutes 0.33 --rate 60'),
				soak('test/bench/soak/broken.ts', '--minutes 0.2 --rate 220', env),
			])
		})

		test('of 20 seconds passes', () => {
			assert.ok(sound)
			const { failing, output, svg, run } = sound
			assert.equal(butLoops(failing), [], output)
			for (const what of ['wrong answers', 'objects at rest, A', 'event loop p99, B', 'exit codes'])
				assert.match(output, new RegExp(`^(?:ok  |FAIL)  ${what} `, 'm'))
			assert.is(elementsOf(svg)[0]?.name, 'svg')
			assert.ok(run.requests > 900, `only ${run.requests} requests`)
			assert.is(Object.keys(run.checksByKind).length, 26, 'each kind of visit has come')
		})

		test('of deliberately broken servers fails, with a line for each fault', () => {
			assert.ok(broken)
			const { failing, output, run } = broken
			assert.equal(
				failing,
				[
					'wrong answers',
					...['objects at rest, A', 'event loop p99, A', 'objects at rest, B', 'event loop p99, B'],
					'unhandled rejections, exceptions, warnings',
				],
				output,
			)
			assert.ok(run.wrong >= 5 && run.wrong <= 50, `${run.wrong} of ${run.checks}`)
			assert.match(
				output,
				/the body is another\n {2}request\n {4}GET \/office\/echo\/[\s\S]*too much/,
				output,
			)
			assert.match(output, /nobody listens/)
		})
	})
