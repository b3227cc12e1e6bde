/**
 * Every case of `http-cases.json`, by its own runner, against the app that it describes; and every answer, compared
 * by the app with its own OpenAPI description. Called by `cases.test.ts` and `cases.long.ts`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { ROOT, run } from '../helpers/program.ts'
import { watchStalls } from '../helpers/stalls.ts'
import type { Store } from './articles.ts'
import { withApp } from './running.ts'

interface Result {
	readonly name: string
	readonly ok?: boolean
	readonly skipped?: boolean
	readonly bad?: readonly string[]
}

const CASES = JSON.parse(readFileSync(`${ROOT}/test/acceptance/http-cases.json`, 'utf8')) as {
	cases: { name: string }[]
}

const NAMES = CASES.cases.map(({ name }) => name)
const GROUPS = [...new Set(NAMES.map(groupOf))]

/** Cases of records are for every store, the others for one. */
function groupsOn(store: Store): string[] {
	return store === 'memory' ? GROUPS : GROUPS.filter((group) => group === 'crud')
}

function groupOf(name: string): string {
	return name.slice(0, name.indexOf('/'))
}

/** What came of the cases, and what the app has printed. */
interface Outcome {
	readonly results: readonly Result[]
	readonly output: string
}

/**
 * What the runner, which is given, says of answers that it didn't wait for: it looks at the wall's clock, for one to eight
 * seconds, and after each case gives the app twenty for a ping.
 */
const LATE =
	/^(?:step \d+: )?(?:server no longer answers ping|no response \(timeout\)|response truncated|connection left open|\d+ responses, want \S+|\d+ ms > \d+|gate \S+ failed)$/
/** So often are cases run; again only where nothing is wrong but the time, and this process saw the machine stall. */
const ATTEMPTS = 3
/** Stalls of more milliseconds are evidence: a quarter of the least that the runner waits. */
const STALL = 250

/** Whether a run fails, and by nothing but answers that were late. */
function wasHeldUp({ results }: Outcome): boolean {
	const failed = results.filter(({ ok }) => ok === false)
	const complaints = failed.flatMap(({ bad = [] }) => bad)
	return complaints.length > 0 && complaints.every((complaint) => LATE.test(complaint))
}

/** Runs what is asked of a store, each time in a fresh app. */
async function runOn(store: Store): Promise<Outcome> {
	for (let attempt = 1; ; attempt++) {
		const stalls = watchStalls(STALL)
		try {
			const outcome = await runOnce(store)
			if (attempt === ATTEMPTS || !wasHeldUp(outcome) || !(await stalls.seen())) return outcome
		} finally {
			stalls.stop()
		}
	}
}

async function runOnce(store: Store): Promise<Outcome> {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-'))
	let results: readonly Result[] = []
	let output = () => ''
	try {
		await withApp(store, async (port, app) => {
			output = app.output
			const file = join(folder, 'results.json')
			const only = store === 'memory' ? '' : 'crud/'
			const options = ['--port', String(port), '--only', only, '--json', file, '--quiet']
			// Its signer is the package http-message-signatures, of this folder.
			const signer = ['--signer-dir', ROOT]
			await run({ args: [`${ROOT}/test/acceptance/run-cases.mjs`, ...options, ...signer] })
			results = JSON.parse(readFileSync(file, 'utf8')) as Result[]
		})
	} finally {
		rmSync(folder, { recursive: true })
	}
	return { results, output: output() }
}

/** A suite of the cases, with articles in a store. */
export function casesOn(store: Store): void {
	/** One app and one run of the runner for all groups. */
	let run: Promise<Outcome> | undefined
	const outcome = (): Promise<Outcome> => {
		run ??= runOn(store)
		return run
	}

	describe(`acceptance, articles in ${store}`, (test) => {
		for (const group of groupsOn(store)) {
			const names = NAMES.filter((name) => groupOf(name) === group)
			test(`${group}: ${names.length} cases`, async () => {
				const results = (await outcome()).results.filter(({ name }) => groupOf(name) === group)
				assert.equal(
					results.map(({ name }) => name),
					names,
				)
				const failed = results.filter(({ ok }) => ok !== true)
				assert.equal(
					failed.map(({ name, bad = ['skipped'] }) => `${name}: ${bad.join('; ')}`),
					[],
				)
			})
		}

		test('every answer is as described', async () => {
			const { output } = await outcome()
			assert.equal(output.match(/^undescribed: .*$/gm) ?? [], [])
			const asked = NAMES.filter((name) => groupsOn(store).includes(groupOf(name)))
			assert.ok(Number(/^as described: (\d+)$/m.exec(output)?.[1]) >= asked.length, output)
		})
	})
}
