/**
 * `npm run bench`: measures every peer with every workload, in turns, and prints a table of ratios, and which targets were
 * reached. Progress goes to stderr, figures to stdout.
 */
import { type ExecFileSyncOptions, execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Pin, splitCores } from './cores.ts'
import { DATABASES, type DatabaseName } from './crud/databases.ts'
import { clean, versionOf } from './crud/seed.ts'
import { enginesWith, measureMatch } from './match.ts'
import { measure, type Progress } from './measure.ts'
import { type Options, parseOptions } from './options.ts'
import { peersInstalled } from './peers.ts'
import { conditions, table, toJson, verdicts } from './report.ts'
import type { Result } from './results.ts'
import { measureSigned } from './signed.ts'
import { measureStartup } from './startup.ts'
import type { Workload } from './workload.ts'
import { SHAPES, WORKLOADS } from './workloads.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

try {
	await main(process.argv.slice(2))
} catch (error) {
	// No stack: the message is for the user, such as an unknown name, or a server with a different response.
	process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
	process.exitCode = 1
}

async function main(words: readonly string[]): Promise<void> {
	const options = parseOptions(words)
	const progress = progressOn(process.stderr)
	if (options.clean) return cleanAll(progress)
	prepare(options, progress)
	const pin = splitCores()
	const versions = await versionsOfDatabases(options, progress)
	const workloads = chosenOf(options).filter(
		({ database }) => database === undefined || versions.has(database),
	)
	const lines = [...conditions(workloads, options, pin), ...versions.values()]
	const begin = performance.now()
	const results = await runAll(workloads, options, pin, progress)
	progress(`done in ${((performance.now() - begin) / 60_000).toFixed(1)} minutes\n`)
	process.stdout.write(`${[...lines, '', table(results), '', verdicts(results)].join('\n').trimEnd()}\n`)
	if (options.json !== undefined) writeFileSync(options.json, toJson(lines, results))
}

function prepare({ peers }: Options, progress: Progress): void {
	if (!peersInstalled()) {
		progress('bench/node_modules is missing: npm ci --prefix bench')
		execFileSync('npm', ['ci', '--prefix', 'bench', '--ignore-scripts'], {
			cwd: ROOT,
			stdio: ['ignore', 2, 2],
		})
	}
	if (peers.has('verbena')) build(progress)
}

/**
 * Builds the package's files into a separate folder: `npm run build` during a run would delete `dist/` before all servers
 * have started.
 */
function build(progress: Progress): void {
	progress('building lib into bench/results/dist')
	const folder = `${ROOT}bench/results/dist`
	rmSync(folder, { recursive: true, force: true })
	// The files that `npm run build` makes, and the modules of two steps that are measured by themselves.
	const adapters = ['postgres', 'mysql', 'sqlite'].map((name) => `lib/models/${name}/model.ts`)
	const entries = ['lib/index.ts', ...adapters, 'lib/routing/custom/custom-routes.ts', 'lib/request/url.ts']
	const format = ['--bundle', '--splitting', '--format=esm', '--platform=node', '--target=node20']
	const short = ['--minify-syntax', '--minify-whitespace', '--line-limit=120']
	const options: ExecFileSyncOptions = { cwd: ROOT, stdio: ['ignore', 2, 2] }
	execFileSync(
		'npx',
		['esbuild', ...entries, ...format, ...short, '--log-level=warning', `--outdir=${folder}`],
		options,
	)
}

/** The selected workloads over HTTP. */
function chosenOf({ workloads }: Options): Workload[] {
	return WORKLOADS.filter(({ name }) => workloads.includes(name))
}

/** The versions of the selected databases that can be reached; a message is printed for the others. */
async function versionsOfDatabases(options: Options, progress: Progress): Promise<Map<DatabaseName, string>> {
	const versions = new Map<DatabaseName, string>()
	for (const database of new Set(chosenOf(options).flatMap((workload) => workload.database ?? []))) {
		const version = await versionOf(database)
		if (version === undefined) progress(`NOT MEASURED: what needs ${database}, which can't be reached`)
		else versions.set(database, `${database}: ${version}`)
	}
	return versions
}

async function cleanAll(progress: Progress): Promise<void> {
	for (const database of DATABASES) {
		if ((await versionOf(database)) === undefined) {
			progress(`${database} can't be reached: its tables stay`)
			continue
		}
		await clean(database)
		progress(`${database}: the tables of the bench are gone`)
	}
}

async function runAll(
	workloads: readonly Workload[],
	options: Options,
	pin: Pin,
	progress: Progress,
): Promise<Result[]> {
	const results: Result[] = []
	const chosen = new Set(options.workloads)
	const verbena = options.peers.has('verbena')
	for (const workload of workloads) results.push(await measure(workload, options, pin, progress))
	for (const shape of SHAPES) {
		if (!chosen.has(`match-${shape}`)) continue
		results.push(...(await measureMatch(shape, enginesWith(verbena), options.rounds, pin, progress)))
	}
	if (chosen.has('signed') && verbena) results.push(...(await measureSigned(options.rounds, pin, progress)))
	if (chosen.has('startup')) {
		const starting = verbena ? ['node', 'verbena'] : ['node']
		results.push(await measureStartup(starting, options.rounds, pin, progress))
	}
	return results
}

/** On a terminal, one line that is overwritten; otherwise one line per message. */
function progressOn(stream: NodeJS.WriteStream): Progress {
	return (text) => stream.write(stream.isTTY ? `\r\x1b[K${text.slice(0, stream.columns - 1)}` : `${text}\n`)
}
