/**
 * `npm run bench`: measures every workload against every peer in turns, and prints one table of ratios
 * and the targets that were kept or missed. Progress goes to stderr, figures to stdout.
 */
import { type ExecFileSyncOptions, execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Pin, splitCores } from './cores.ts'
import { enginesWith, measureMatch } from './match.ts'
import { measure, type Progress } from './measure.ts'
import { type Options, parseOptions } from './options.ts'
import { peersInstalled } from './peers.ts'
import { conditions, table, toJson, verdicts } from './report.ts'
import type { Result } from './results.ts'
import { measureStartup } from './startup.ts'
import { SHAPES, WORKLOADS } from './workloads.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

try {
	await main(process.argv.slice(2))
} catch (error) {
	// An unknown name or a server that answers otherwise is told in words; a stack would hide them.
	process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
	process.exitCode = 1
}

async function main(words: readonly string[]): Promise<void> {
	const options = parseOptions(words)
	const progress = progressOn(process.stderr)
	prepare(options, progress)
	const pin = splitCores()
	const lines = conditions(options, pin)
	const begin = performance.now()
	const results = await runAll(options, pin, progress)
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
	if (peers.some(({ name }) => name === 'verbena')) build(progress)
}

/**
 * Builds what would be published, into a folder of our own: a `npm run build` while this runs would take
 * the files away under servers that have yet to start.
 */
function build(progress: Progress): void {
	progress('building lib into bench/results/dist')
	const folder = `${ROOT}bench/results/dist`
	rmSync(folder, { recursive: true, force: true })
	// As `npm run build` does it, and the two steps that are measured alone.
	const entries = ['lib/index.ts', 'lib/route.ts', 'lib/url.ts']
	const format = ['--bundle', '--splitting', '--format=esm', '--platform=node', '--target=node20']
	const options: ExecFileSyncOptions = { cwd: ROOT, stdio: ['ignore', 2, 2] }
	execFileSync(
		'npx',
		['esbuild', ...entries, ...format, '--log-level=warning', `--outdir=${folder}`],
		options,
	)
}

async function runAll(options: Options, pin: Pin, progress: Progress): Promise<Result[]> {
	const results: Result[] = []
	const chosen = new Set(options.workloads)
	const verbena = options.peers.some(({ name }) => name === 'verbena')
	for (const workload of WORKLOADS) {
		if (chosen.has(workload.name)) results.push(await measure(workload, options, pin, progress))
	}
	for (const shape of SHAPES) {
		if (!chosen.has(`match-${shape}`)) continue
		results.push(...(await measureMatch(shape, enginesWith(verbena), options.rounds, pin, progress)))
	}
	if (chosen.has('startup')) {
		const starting = verbena ? ['node', 'verbena'] : ['node']
		results.push(await measureStartup(starting, options.rounds, pin, progress))
	}
	return results
}

/** On a terminal one line that is written over, else a line each. */
function progressOn(stream: NodeJS.WriteStream): Progress {
	return (text) => stream.write(stream.isTTY ? `\r\x1b[K${text.slice(0, stream.columns - 1)}` : `${text}\n`)
}
