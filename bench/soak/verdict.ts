/** The verdict on a run: a line per promise, with the measured and the allowed value. */
import { type Line, line } from './line.ts'
import { memoryLines } from './memory.ts'
import type { Ending, Moment, Run } from './record.ts'
import type { Faults, Logged } from './reports.ts'
import { GRACE_MS } from './server/site.ts'

/** Milliseconds. */
const LOOP_BOUND = 50

export function verdictOf(run: Run): Line[] {
	return [
		line(
			'wrong answers',
			`${run.wrong} of ${grouped(run.checks)} checks`,
			'0',
			run.wrong === 0 && run.checks > 0,
		),
		recordsLine(run),
		paymentsLine(run),
		...run.endings.flatMap(({ name }, at) => [...memoryLines(run, name, at), loopLine(run, name, at)]),
		faultsLine(run),
		errorsLine(run),
		...endLines(run.endings),
		rateLine(run),
		machineLine(run),
	]
}

function recordsLine({ balance }: Run): Line {
	const { rows, creates, deletes, lost, unknown, changed } = balance
	const differences = `${lost} lost, ${unknown} unknown, ${changed} changed`
	const holds = rows === creates - deletes && lost + unknown + changed === 0
	const measured = `${grouped(rows)} rows; ${grouped(creates)} − ${grouped(deletes)}; ${differences}`
	return line('records in PostgreSQL', measured, 'creates − deletes; 0', holds)
}

function paymentsLine({ payments: { answered, rows, twice } }: Run): Line {
	const measured = `${grouped(rows)} runs of ${grouped(answered)} keys; ${twice} twice`
	return line('payments with a key', measured, 'one run a key', rows === answered && twice === 0)
}

function loopLine({ moments }: Run, name: string, at: number): Line {
	const sample = moments.at(-1)?.servers[at]
	const whole = sample?.wholeLoop
	const measured =
		sample === undefined
			? 'not measured'
			: `${sample.wholeLoop.p99.toFixed(1)} ms (most ${sample.wholeLoop.max.toFixed(0)}; with collections ${sample.wholeMonitor.p99.toFixed(1)})`
	return line(
		`event loop p99, ${name}`,
		measured,
		`< ${LOOP_BOUND} ms`,
		whole !== undefined && whole.p99 < LOOP_BOUND,
	)
}

/** The figures that each server reported when it closed, else those of its last sample. */
function last<T>(run: Run, of: (told: { faults: Faults; logged: Logged }) => T): T[] {
	return run.endings.flatMap(({ closed }, at) => {
		const told = closed ?? run.moments.at(-1)?.servers[at]
		return told === undefined ? [] : [of(told)]
	})
}

function faultsLine(run: Run): Line {
	const faults = last(run, (told) => told.faults)
	const sum = (of: (faults: Faults) => number) => faults.reduce((before, one) => before + of(one), 0)
	const counts = [sum((one) => one.rejections), sum((one) => one.exceptions), sum((one) => one.warnings)]
	const [first] = faults.flatMap((one) => one.first)
	const holds = faults.length === run.endings.length && counts.every((count) => count === 0)
	const told = first === undefined ? '' : ` (${first.split('\n', 1)[0]})`
	return line('unhandled rejections, exceptions, warnings', `${counts.join(', ')}${told}`, '0, 0, 0', holds)
}

function errorsLine(run: Run): Line {
	const logged = last(run, (told) => told.logged)
	const sum = (of: (logged: Logged) => number) => logged.reduce((before, one) => before + of(one), 0)
	const [unexpected, expected] = [sum((one) => one.unexpected), sum((one) => one.expected)]
	const [first] = logged.flatMap((one) => one.first)
	const told = first === undefined ? '' : ` (${first.slice(0, 200)})`
	const measured = `${expected} of ${run.crashes} failures, ${unexpected} others${told}`
	return line(
		'error lines in the log',
		measured,
		'2 of each failure, 0 others',
		unexpected === 0 && expected === 2 * run.crashes,
	)
}

function endLines(endings: readonly Ending[]): Line[] {
	const all = (of: (ending: Ending) => string | number | undefined) =>
		endings.map((ending) => of(ending) ?? '–').join(', ')
	const every = (holds: (ending: Ending) => boolean) => endings.every(holds)
	return [
		line(
			'streams that are still open',
			all(({ closed }) => closed?.streams),
			'0',
			every(({ closed }) => closed?.streams === 0),
		),
		line(
			'server.close()',
			`${all(({ closed }) => closed?.closeMs.toFixed(0))} ms`,
			`< ${GRACE_MS} ms`,
			every(({ closed }) => closed !== undefined && closed.closeMs < GRACE_MS),
		),
		line(
			'sockets open behind it',
			all(({ closed }) => closed?.sockets),
			'0',
			every(({ closed }) => closed?.sockets === 0),
		),
		line(
			'exit codes',
			all(({ exit }) => exit),
			'0',
			every(({ exit }) => exit === 0),
		),
	]
}

function rateLine(run: Run): Line {
	const { requests, seconds, rate } = run
	const busy = percents(run, ({ servers }, at) => servers[at]?.cpu)
	return line(
		'load',
		`${(requests / seconds).toFixed(0)} a second of ${rate}; servers busy ${busy}`,
		'',
		undefined,
	)
}

/** If these are high, event loop delays are caused by the machine. */
function machineLine(run: Run): Line {
	const waited = percents(
		{ ...run, moments: run.moments.slice(-1) },
		({ servers }, at) => servers[at]?.waited,
	)
	const stolen = `${(100 * run.stolen).toFixed(0)} %`
	return line('machine', `servers waited for a core ${waited}; its host took ${stolen}`, '', undefined)
}

/** The mean of a fraction, for each server. */
function percents({ moments, endings }: Run, of: (moment: Moment, at: number) => number | undefined): string {
	return endings
		.map((_ending, at) => {
			const parts = moments.flatMap((moment) => of(moment, at) ?? [])
			const sum = parts.reduce((before, part) => before + part, 0)
			return `${((100 * sum) / Math.max(1, parts.length)).toFixed(0)} %`
		})
		.join(', ')
}

function grouped(count: number): string {
	return count.toLocaleString('en-GB')
}
