/** The verdict: a correct run passes, and each fault fails its own line and no other. */
import * as assert from 'uvu/assert'
import { table } from '../../../bench/soak/line.ts'
import type { Run } from '../../../bench/soak/record.ts'
import type { Faults } from '../../../bench/soak/reports.ts'
import { verdictOf } from '../../../bench/soak/verdict.ts'
import { describe } from '../../helpers/describe.ts'
import { aRun, moments, rests } from './a-run.ts'

function failing(run: Run): string[] {
	return verdictOf(run).flatMap(({ what, holds }) => (holds === false ? [what] : []))
}

/** The run in which one server has told something else at its end. */
function ended(change: object): Run {
	const run = aRun()
	const [one, ...others] = run.endings
	if (one?.closed === undefined) throw new Error('it has closed') // as a-run.ts makes it
	return { ...run, endings: [{ ...one, closed: { ...one.closed, ...change } }, ...others] }
}

const rejected: Faults = {
	rejections: 1,
	exceptions: 0,
	warnings: 0,
	first: ['unhandledRejection: nobody listens'],
}
const balance = { rows: 60, creates: 100, deletes: 40, lost: 0, unknown: 0, changed: 0 }

describe('the verdict of a soak', (test) => {
	test('of a correct run is a pass', () => {
		assert.equal(failing(aRun()), [])
		assert.match(table(verdictOf(aRun())), /All of it holds\.$/)
	})

	const both = (what: string) => [`${what}, A`, `${what}, B`]
	const wrong: [what: string, run: Run, lines: string[]][] = [
		['a wrong answer', aRun({ wrong: 1 }), ['wrong answers']],
		['no check at all', aRun({ checks: 0 }), ['wrong answers']],
		[
			'a record that is lost',
			aRun({ balance: { ...balance, rows: 59, lost: 1 } }),
			['records in PostgreSQL'],
		],
		[
			'one lost and one doubled',
			aRun({ balance: { ...balance, lost: 1, unknown: 1 } }),
			['records in PostgreSQL'],
		],
		[
			'a payment that ran twice',
			aRun({ payments: { answered: 50, rows: 51, twice: 1 } }),
			['payments with a key'],
		],
		[
			'objects that grow by 100 kB a minute',
			aRun({ rests: rests((minute) => minute * 1e5) }),
			both('objects at rest'),
		],
		['too few rests', aRun({ rests: aRun().rests.slice(2) }), both('objects at rest')],
		[
			'a loop that is held up',
			aRun({ moments: moments(() => ({ wholeLoop: { p50: 10, p99: 50, max: 60 } })) }),
			both('event loop p99'),
		],
		['a rejection', ended({ faults: rejected }), ['unhandled rejections, exceptions, warnings']],
		[
			'an error that nobody has asked for',
			ended({ logged: { info: 1, warn: 0, expected: 10, unexpected: 1, first: ['x'] } }),
			['error lines in the log'],
		],
		[
			'a failure that is not logged',
			ended({ logged: { info: 1, warn: 0, expected: 9, unexpected: 0, first: [] } }),
			['error lines in the log'],
		],
		['a stream that is open', ended({ streams: 1 }), ['streams that are still open']],
		['a socket that is open', ended({ sockets: 1 }), ['sockets open behind it']],
		['a server that is cut off', ended({ closeMs: 10_000 }), ['server.close()']],
		[
			'a process that ends by a signal',
			aRun({ endings: aRun().endings.map((ending) => ({ ...ending, exit: 'SIGSEGV' })) }),
			['exit codes'],
		],
	]
	for (const [what, run, lines] of wrong)
		test(`of ${what} is a failure: ${lines}`, () => assert.equal(failing(run), lines))

	test('ignores growth of less than 1 % of 8 MB, and reports more', () => {
		// From the second rest to the last are 13.2 minutes.
		const growing = (bytes: number) => aRun({ rests: rests((minute) => (minute * bytes) / 13.2) })
		assert.equal(failing(growing(70_000)), [])
		assert.equal(failing(growing(90_000)), both('objects at rest'))
	})

	test('does not take shrinking memory for a leak', () => {
		assert.equal(failing(aRun({ rests: rests((minute) => minute * -1e5) })), [])
	})
})
