/** Formats the conditions of a run, the table of results, and the targets. */
import { cpus, loadavg, release, type } from 'node:os'
import type { Pin } from './cores.ts'
import { type Options, peersOf } from './options.ts'
import { versionsOf } from './peers.ts'
import { type Result, ratios, type Summary, summarize } from './results.ts'
import { judge, type Verdict } from './targets.ts'
import type { Workload } from './workload.ts'

/** The conditions of a run, one per line. */
export function conditions(workloads: readonly Workload[], options: Options, pin: Pin): string[] {
	const [cpu] = cpus()
	const { starts, rounds, seconds, connections, warmupSeconds } = options
	const load = loadavg().map((value) => value.toFixed(1))
	return [
		`Node ${process.versions.node} (V8 ${process.versions.v8}), ${type()} ${release()}`,
		`${cpu?.model ?? 'unknown CPU'}, ${cpus().length} cores; load average before: ${load.join(' ')}`,
		pin.length > 0 ? 'server on core 0, load on core 1' : 'cores not separated: no taskset, or a single core',
		`${starts === 1 ? '' : `${starts} starts, `}${rounds} rounds of ${seconds} s in turns after ${warmupSeconds} s warm-up each, ${connections} connections`,
		versionsOf([...new Set(workloads.flatMap((workload) => peersOf(workload, options)))]).join(', '),
	]
}

const HEAD = [
	'workload',
	'peer',
	'cost',
	'× by cost (min–max)',
	'database',
	'req/s',
	'× by req/s (min–max)',
	'p50 / p99 ms',
	'busy',
]

/** One row per workload and peer. `×` compares with the workload's reference: above 1 is better. */
export function table(results: readonly Result[]): string {
	const rows = results.flatMap((result) => [...result.rounds.keys()].map((peer) => rowOf(result, peer)))
	// Columns about databases are left out of a run without any.
	const shown = HEAD.map((_, column) => column).filter((column) => rows.some((row) => row[column] !== ''))
	const all = [HEAD, ...rows]
	const widths = HEAD.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
	const line = (row: readonly string[]): string => {
		const cells = shown.map((column) => {
			const [cell = '', width = 0] = [row[column], widths[column]]
			return column < 2 ? cell.padEnd(width) : cell.padStart(width)
		})
		return `| ${cells.join(' | ')} |`
	}
	const rule = widths.map((width, column) => (column < 2 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
	return [line(HEAD), line(rule), ...rows.map(line)].join('\n')
}

function rowOf(result: Result, peer: string): string[] {
	const rounds = result.rounds.get(peer) ?? []
	const rates = rounds.flatMap(({ rate }) => rate ?? [])
	const database = rounds.flatMap(({ databaseCost }) => databaseCost ?? [])
	const busy = rounds.flatMap((round) => round.busy ?? [])
	const latency = result.latency.get(peer)
	const cost = summarize(rounds.map((round) => round.cost)).median
	return [
		result.workload,
		peer,
		`${cost.toFixed(cost < 1_000 ? 1 : 0)} ${result.unit}`,
		spread(ratios(result, peer, result.reference)),
		database.length === 0 ? '' : `${summarize(database).median.toFixed(1)} µs`,
		rates.length === 0 ? '' : Math.round(summarize(rates).median).toLocaleString('en'),
		spread(ratios(result, peer, result.reference, 'rate')),
		latency === undefined ? '' : `${latency.p50.toFixed(2)} / ${latency.p99.toFixed(2)}`,
		busy.length === 0 ? '' : `${Math.round(summarize(busy).median * 100)}%`,
	]
}

function spread(values: readonly number[]): string {
	return values.length === 0 ? '' : text(summarize(values), '')
}

function text({ median, min, max }: Summary, unit: string): string {
	return `${median.toFixed(2)}${unit} (${min.toFixed(2)}–${max.toFixed(2)})`
}

/** One line per target that this run measured. */
export function verdicts(results: readonly Result[]): string {
	return judge(results).map(verdict).join('\n')
}

function verdict({ target, measured, kept }: Verdict): string {
	const { text: title, kind, bound, unit } = target
	return `${kept ? '✓' : '✗'} ${title}: ${kind} ${bound}${unit}, measured ${text(measured, unit)}`
}

/** All figures of a run, for `--json`. */
export function toJson(lines: readonly string[], results: readonly Result[]): string {
	const plain = results.map((result) => ({
		...result,
		rounds: Object.fromEntries(result.rounds),
		latency: Object.fromEntries(result.latency),
	}))
	const targets = judge(results).map(({ target, ...rest }) => ({
		text: target.text,
		bound: target.bound,
		...rest,
	}))
	return `${JSON.stringify({ conditions: lines, results: plain, targets }, null, '\t')}\n`
}
