/**
 * `npm test`: all quick suites, in two processes at once: those that wait for databases most of the time, and the
 * others. Prints what each process says when it has ended, and the totals of both as uvu does.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'

const WAITING = '(?:adapters|crud-over|faults|acceptance|examples|processes)/'
const PATTERNS = [`^${WAITING}.*\\.test\\.ts$`, `^(?!${WAITING}).*\\.test\\.ts$`]
const COUNTS = ['Total', 'Passed', 'Skipped'] as const

/** Runs uvu on the files that fit; answers its counts, or undefined where it didn't come to its end. */
async function suites(pattern: string): Promise<number[] | undefined> {
	const args = ['--import', 'tsx', 'node_modules/uvu/bin.js', 'test', pattern]
	const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
	const ended = once(child, 'exit')
	const output = await text(child.stdout)
	const [code] = await ended
	process.stdout.write(output)
	if (code !== 0) process.exitCode = 1
	const plain = stripVTControlCharacters(output)
	const counts = COUNTS.map((word) =>
		Number([...plain.matchAll(new RegExp(`^ *${word}: +(\\d+)$`, 'gm'))].at(-1)?.[1]),
	)
	return counts.some(Number.isNaN) ? undefined : counts
}

const started = performance.now()
const found = await Promise.all(PATTERNS.map(suites))
const whole = found.filter((counts) => counts !== undefined)
if (whole.length === PATTERNS.length) {
	for (const [at, word] of COUNTS.entries()) {
		const sum = whole.reduce((before, counts) => before + (counts[at] ?? 0), 0)
		console.log(`  ${`${word}:`.padEnd(10)}${sum}`)
	}
	console.log(`  Duration:  ${Math.round(performance.now() - started)}ms, of both`)
} else {
	console.error('a process of the tests has ended before its totals')
	process.exitCode = 1
}
