/**
 * `npm test`: runs all quick suites in seven parallel processes, so that some use the cores while others wait for databases
 * and child processes. `npm run test:long`: runs the long suites in six (packed package, examples, faults, CRUD,
 * databases, the rest), with a seventh for the quick suites by the drivers that `npm test` leaves out; then the soak.
 * Prints the output of each process when it has ended, and the sums of their totals in uvu's format.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { finished } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { reports } from './helpers/handles.ts'
import { ownDatabases } from './helpers/own-databases.ts'

/** The files of one process. */
interface Files {
	/** A regular expression for their paths below `test/`. */
	readonly pattern: string
	/** The drivers they are run with: see `helpers/suites-by.ts`. */
	readonly drivers: 'first' | 'others' | 'all'
}

/** Folders of `test/`: one process per line, and one for all files that no line matches. */
const QUICK = processes('test', [
	'cache/redis/|models/mysql/',
	'models/(?:postgres|sqlite)/',
	'behaviour/(?:faults|processes)/|examples/|openapi/',
	'acceptance/|client/|crud/over/|docs/|explorer/',
	'auth/|cache/|crud/|handler/',
	'behaviour/|cli/|health/|transport/', // they wait
])
const LONG = processes('long', [
	'behaviour/(?:observability|runtimes)/|docs/|package/', // they share a tarball
	'examples/',
	'behaviour/(?:faults|http)/|crud/over/(?:naughty|too-large|totals)|routing/', // half of them wait, half compute
	'crud/',
	'cache/redis/|models/',
	'(?!bench/)',
])
/** The last process has only the soak, which measures event loop delays: it runs alone, after the others. */
const SOAK = LONG.splice(-1)
const STAGES = process.argv[2] === 'long' ? [[...LONG, byOtherDrivers()], SOAK] : [QUICK]
const COUNTS = ['Total', 'Passed', 'Skipped'] as const

/**
 * Most objects of tests are short-lived. A larger young generation saves their promotion: `crud/relations` and `crud/many`
 * take 17.7 s instead of 20.4. Mebibytes.
 */
const YOUNG_GENERATION = ['--min-semi-space-size=16', '--max-semi-space-size=64']
/**
 * Most functions of tests run few times: compiling them later saves a sixth of the processor time. From Node 24 on, where the
 * option is gone, V8 compiles less.
 */
const LATER_OPTIMIZATION =
	Number.parseInt(process.versions.node, 10) < 22 ? ['--interrupt-budget=1000000'] : []
/**
 * On processors with memory protection keys (servers have them), V8 of Node 24 sometimes aborts the process when a
 * WebAssembly module such as PGlite's is freed: "Check failed: jit_page.has_value()",
 * https://github.com/nodejs/node/issues/64500.
 */
const WITHOUT_MEMORY_KEYS =
	Number.parseInt(process.versions.node, 10) < 24 ? [] : ['--no-memory-protection-keys']

/**
 * A process that runs longer hangs; milliseconds. Less than the limit of `.ci/run`, which ends all processes without saying
 * which of them hung.
 */
const PROCESS_TIMEOUT = 2_700_000
/** Time to exit after the totals, and then, when told to exit, to write coverage; milliseconds. */
const EXIT_TIMEOUT = 30_000
const COVERAGE_TIMEOUT = 120_000
/** Time to read what is left in the output pipe of a process that has exited; milliseconds. */
const OUTPUT_TIMEOUT = 2_000

/** A file belongs to the first line that matches its path, else to the last process. */
function processes(kind: 'test' | 'long', lines: readonly string[]): Files[] {
	return [...lines, ''].map((line, at) => {
		const earlier = lines.slice(0, at).map((one) => `(?!${one})`)
		const pattern = `^${earlier.join('')}(?:${line}).*\\.${kind}\\.ts$`
		return { pattern, drivers: kind === 'long' ? 'all' : 'first' }
	})
}

/** The quick suites that are run once per driver: they call `suitesBy`, or a shared function that does. */
function byOtherDrivers(): Files {
	const asking = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((path) => {
		if (!path.endsWith('.test.ts')) return false
		return /\b(?:suitesBy|desksHere|relatedCases)\(/.test(readFileSync(`test/${path}`, 'utf8'))
	})
	return { pattern: `^(?:${asking.join('|').replaceAll('.', '\\.')})$`, drivers: 'others' }
}

/** Runs uvu on the matching files. Returns its counts, or undefined if it ended before printing them. */
async function suites({ pattern, drivers }: Files): Promise<number[] | undefined> {
	const reporting = reports()
	const loaded = ['--import', 'tsx', '--import', './test/helpers/ending.ts']
	const args = [
		...YOUNG_GENERATION,
		...LATER_OPTIMIZATION,
		...WITHOUT_MEMORY_KEYS,
		...reporting.args,
		...loaded,
		'node_modules/uvu/bin.js',
		'test',
		pattern,
	]
	const env = { ...process.env, ...databases.env, VERBENA_DRIVERS: drivers }
	const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env })
	running.add(child)
	let [output, errors] = ['', '']
	const hang = async (): Promise<void> => {
		const lines = await reporting.of(child)
		console.log(`   FAIL  ${pattern} hangs; it is ended:\n    ${lines.join('\n    ')}`)
		child.kill('SIGKILL')
	}
	// All results are printed. A resource that a test left open is not waited for, but fails the run.
	const leave = async (): Promise<void> => {
		const lines = await reporting.of(child)
		if (child.exitCode !== null) return
		process.exitCode = 1
		console.log(`   LEFT OPEN by ${pattern}, which is ended:\n    ${lines.join('\n    ')}`)
		timer = setTimeout(hang, COVERAGE_TIMEOUT)
		child.send('end')
	}
	let timer = setTimeout(hang, PROCESS_TIMEOUT)
	child.stderr?.pipe(process.stderr, { end: false })
	child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text))
	child.stdout?.setEncoding('utf8').on('data', (text: string) => {
		output += text
		if (!/^ *Duration: /m.test(output.slice(-200))) return
		clearTimeout(timer)
		timer = setTimeout(leave, EXIT_TIMEOUT)
	})
	// Not `close`: a program that a test left behind would keep the output pipe open.
	const [code, signal] = await once(child, 'exit')
	clearTimeout(timer)
	running.delete(child)
	reporting.remove()
	if (child.stdout !== null) await Promise.race([finished(child.stdout), pause(OUTPUT_TIMEOUT)])
	process.stdout.write(output)
	if (code !== 0) process.exitCode = 1
	const plain = stripVTControlCharacters(output)
	const counts = COUNTS.map((word) =>
		Number([...plain.matchAll(new RegExp(`^ *${word}: +(\\d+)$`, 'gm'))].at(-1)?.[1]),
	)
	// A test that didn't pass fails the run, even if uvu exits with 0.
	if (code === 0 && counts[0] !== counts[1]) {
		process.exitCode = 1
		console.log(`   FAIL  ${pattern}: ${counts[1]} passed of ${counts[0]}, and nothing said of the others`)
	}
	// A pattern without any test is a mistake.
	if (counts.every((count) => !Number.isNaN(count)) && counts[0] !== 0) return counts
	const last = [...plain.trimEnd().split('\n').slice(-3), ...errors.trimEnd().split('\n').slice(-20)]
	console.log(
		`   FAIL  ${pattern} has ended before its totals (${signal ?? code}):\n    ${last.join('\n    ')}`,
	)
	return undefined
}

const started = performance.now()
const databases = await ownDatabases()
const running = new Set<ChildProcess>()
let isInterrupted = false
// An interrupted run still drops its databases.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
	process.once(signal, () => {
		isInterrupted = true
		for (const child of running) child.kill('SIGKILL')
	})
const found: (number[] | undefined)[] = []
try {
	for (const patterns of STAGES) if (!isInterrupted) found.push(...(await Promise.all(patterns.map(suites))))
} finally {
	await databases.drop()
}
const complete = found.filter((counts) => counts !== undefined)
if (complete.length === STAGES.flat().length) {
	for (const [at, word] of COUNTS.entries()) {
		const sum = complete.reduce((before, counts) => before + (counts[at] ?? 0), 0)
		console.log(`  ${`${word}:`.padEnd(10)}${sum}`)
	}
	console.log(`  Duration:  ${Math.round(performance.now() - started)}ms, of all`)
} else {
	console.error('a process of the tests has ended before its totals')
	process.exitCode = 1
}
