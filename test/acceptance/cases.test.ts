/** Every case of `http-cases.json`, by its own runner, against the app that it describes. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { ROOT, run } from '../helpers/program.ts'
import { STORES, type Store } from './articles.ts'
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

/** Those of records on every store, the others on one. */
const RUNS = GROUPS.flatMap((group) =>
	(group === 'crud' ? STORES : (['memory'] as const)).map((store) => [group, store] as const),
)

function groupOf(name: string): string {
	return name.slice(0, name.indexOf('/'))
}

/** Runs the cases of one group in a fresh app. */
async function runGroup(group: string, store: Store): Promise<readonly Result[]> {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-'))
	let results: readonly Result[] = []
	try {
		await withApp(store, async (port) => {
			const file = join(folder, 'results.json')
			const options = ['--port', String(port), '--only', `${group}/`, '--json', file, '--quiet']
			// Its signer is the package http-message-signatures, of this folder.
			const signer = ['--signer-dir', ROOT]
			await run({ args: [`${ROOT}/test/acceptance/run-cases.mjs`, ...options, ...signer] })
			results = JSON.parse(readFileSync(file, 'utf8')) as Result[]
		})
	} finally {
		rmSync(folder, { recursive: true })
	}
	return results
}

describe('acceptance', (test) => {
	for (const [group, store] of RUNS) {
		const names = NAMES.filter((name) => groupOf(name) === group)
		test(`${group}: ${names.length} cases, articles in ${store}`, async () => {
			const results = await runGroup(group, store)
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
})
