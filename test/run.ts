/**
 * `npm test`: all quick suites, in six processes at once, so that some use the cores while others wait for databases and
 * for programs they have started. `npm run test:long`: the long trials, in six: those of the packed package, those of
 * examples, those that stop servers and fill them, those of CRUD, those of databases, and the others; then the soak. Prints what each
 * process says when it has ended, and the totals of all as uvu does.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { reports } from './helpers/handles.ts'
import { ownDatabases } from './helpers/own-databases.ts'

/** Folders of `test/`, a process for each line and one for all that none of them names. */
const QUICK = processes('test', [
	'cache/redis/|models/mysql/',
	'models/(?:postgres|sqlite)/',
	'behaviour/(?:faults|processes)/|examples/|models/sql/|openapi/|server/',
	'acceptance/|client/|crud/over/|docs/|explorer/',
	'auth/|behaviour/|cache/|crud/|handler/|health/',
])
const LONG = processes('long', [
	'behaviour/(?:observability|runtimes)/|docs/|package/', // they share a tarball
	'examples/',
	'behaviour/(?:faults|http)/|crud/over/(?:naughty|too-large|totals)|routing/', // half of them wait, half compute
	'crud/',
	'cache/redis/|models/',
	'(?!bench/)',
])
/** The soak, now all that is left, measures how late event loops are: it runs when the others have ended. */
const SOAK = LONG.splice(-1)
const STAGES = process.argv[2] === 'long' ? [LONG, SOAK] : [QUICK]
const COUNTS = ['Total', 'Passed', 'Skipped'] as const

/** The objects of tests die young: with room for them, collecting garbage takes a sixth less of a run. Mebibytes. */
const YOUNG = ['--min-semi-space-size=16', '--max-semi-space-size=64']
/**
 * With memory protection keys, which servers' processors have, V8 of Node 24 ends the process now and then when a WebAssembly module
 * such as PGlite's is freed: "Check failed: jit_page.has_value()", https://github.com/nodejs/node/issues/64500.
 */
const UNPROTECTED = Number.parseInt(process.versions.node, 10) < 24 ? [] : ['--no-memory-protection-keys']

/** A process that takes so long hangs, milliseconds; `.ci/run` would end all of them without a word of it. */
const LONGEST = 1_500_000
/** What a process has to end by itself behind its totals, and then to write its coverage, milliseconds. */
const LAST = 30_000
const COVERAGE = 120_000
/** What is on its way through the pipe when a process has ended comes within that, milliseconds. */
const OUTPUT = 2_000

/** Patterns of file names, one per process: a file belongs to the first line that fits, or to a last process. */
function processes(kind: 'test' | 'long', lines: readonly string[]): string[] {
	return [...lines, ''].map((line, at) => {
		const earlier = lines.slice(0, at).map((one) => `(?!${one})`)
		return `^${earlier.join('')}(?:${line}).*\\.${kind}\\.ts$`
	})
}

/** Runs uvu on the files that fit; answers its counts, or undefined where it didn't come to its end. */
async function suites(pattern: string): Promise<number[] | undefined> {
	const reporting = reports()
	const loaded = ['--import', 'tsx', '--import', './test/helpers/ending.ts']
	const args = [
		...YOUNG,
		...UNPROTECTED,
		...reporting.args,
		...loaded,
		'node_modules/uvu/bin.js',
		'test',
		pattern,
	]
	const env = { ...process.env, ...databases.env }
	const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env })
	running.add(child)
	let [output, errors] = ['', '']
	const hang = async (): Promise<void> => {
		const lines = await reporting.of(child)
		console.log(`   FAIL  ${pattern} hangs; it is ended:\n    ${lines.join('\n    ')}`)
		child.kill('SIGKILL')
	}
	// All tests are told of: what one has left open isn't waited for, but the run has failed.
	const leave = async (): Promise<void> => {
		const lines = await reporting.of(child)
		if (child.exitCode !== null) return
		process.exitCode = 1
		console.log(`   LEFT OPEN by ${pattern}, which is ended:\n    ${lines.join('\n    ')}`)
		timer = setTimeout(hang, COVERAGE)
		child.send('end')
	}
	let timer = setTimeout(hang, LONGEST)
	child.stderr?.pipe(process.stderr, { end: false })
	child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text))
	child.stdout?.setEncoding('utf8').on('data', (text: string) => {
		output += text
		if (!/^ *Duration: /m.test(output.slice(-200))) return
		clearTimeout(timer)
		timer = setTimeout(leave, LAST)
	})
	// Not the end of its output: a program that a test has left behind would hold that open.
	const [code, signal] = await once(child, 'exit')
	clearTimeout(timer)
	running.delete(child)
	reporting.remove()
	if (child.stdout !== null) await Promise.race([finished(child.stdout), pause(OUTPUT)])
	process.stdout.write(output)
	if (code !== 0) process.exitCode = 1
	const plain = stripVTControlCharacters(output)
	const counts = COUNTS.map((word) =>
		Number([...plain.matchAll(new RegExp(`^ *${word}: +(\\d+)$`, 'gm'))].at(-1)?.[1]),
	)
	// Whatever uvu makes of a test that has failed, the run has failed with it.
	if (code === 0 && counts[0] !== counts[1]) {
		process.exitCode = 1
		console.log(`   FAIL  ${pattern}: ${counts[1]} passed of ${counts[0]}, and nothing said of the others`)
	}
	// A pattern that fits no test is a mistake.
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
// Ended by hand, the run goes on to drop its databases.
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
const whole = found.filter((counts) => counts !== undefined)
if (whole.length === STAGES.flat().length) {
	for (const [at, word] of COUNTS.entries()) {
		const sum = whole.reduce((before, counts) => before + (counts[at] ?? 0), 0)
		console.log(`  ${`${word}:`.padEnd(10)}${sum}`)
	}
	console.log(`  Duration:  ${Math.round(performance.now() - started)}ms, of all`)
} else {
	console.error('a process of the tests has ended before its totals')
	process.exitCode = 1
}
