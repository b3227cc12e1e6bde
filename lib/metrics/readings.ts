/** The metrics of a page: those of requests, of the process, of stores and of the cache. Called by `metrics.ts`. */
import type { IntervalHistogram } from 'node:perf_hooks'
import type { Milliseconds } from '../base/time.ts'
import type { Cache } from '../cache/cache.ts'
import { type PoolUsage, type StoreUsage, usageOf } from '../models/usage.ts'
import { BOUNDS, type RequestCounts } from '../observe/request-counts.ts'
import type { Exposition, HistogramSample, Sample } from './exposition.ts'

/** Requests by route, method and status, named as OpenTelemetry's conventions name them. */
export function writeRequests(page: Exposition, counts: RequestCounts): void {
	const name = 'http_server_request_duration_seconds'
	const help =
		'Time from the head of a request to the last byte of its reply; _count is the number of requests.'
	page.histogram(name, help, BOUNDS, histogramsOf(counts))
	page.gauge('http_server_active_requests', 'Requests that are being answered.', counts.active)
}

function* histogramsOf(counts: RequestCounts): Iterable<HistogramSample> {
	for (const { method, route, status = 'aborted', buckets, sum } of counts.series())
		yield { labels: { method, route, status: String(status) }, buckets, sum }
}

/** Pools and gathered reads. @param sources the sources of the models, each once */
export function writeStores(page: Exposition, sources: ReadonlySet<object>): void {
	if (sources.size === 0) return
	const all = [...sources].flatMap((source) => [source, ...usageOf(source).replicas])
	const usages = all.map(usageOf)
	const pools = poolsOf(usages)
	const of = (name: 'waiting' | 'inUse' | 'max'): Sample[] =>
		[...pools].map(([pool, usage]) => [{ pool }, usage[name]])
	const waiting = 'Statements and transactions that wait for a connection.'
	page.gauge('verbena_pool_waiting', waiting, of('waiting'))
	page.gauge('verbena_pool_in_use', 'Connections of the pool that are in use.', of('inUse'))
	page.gauge('verbena_pool_max', 'Most connections that the pool may have.', of('max'))
	const sum = (name: 'reads' | 'readStatements') => usages.reduce((total, usage) => total + usage[name], 0)
	const reads = 'Reads of records by id; concurrent ones are gathered in one statement.'
	page.counter('verbena_record_reads_total', reads, sum('reads'))
	const statements = 'Statements that verbena_record_reads_total were sent in.'
	page.counter('verbena_record_read_statements_total', statements, sum('readStatements'))
}

/** Pools by name. Models that were opened one by one have a driver each; several drivers may share a pool. */
function poolsOf(usages: readonly StoreUsage[]): ReadonlyMap<string, PoolUsage> {
	const byPool = new Map<object, PoolUsage>()
	for (const usage of usages) {
		const one = usage.pool?.()
		if (one === undefined) continue
		const known = byPool.get(one.pool)
		byPool.set(one.pool, { ...one, waiting: one.waiting + (known?.waiting ?? 0) })
	}
	const named = new Map<string, PoolUsage>()
	for (const one of byPool.values()) {
		let name = one.system
		for (let count = 2; named.has(name); count++) name = `${one.system}-${count}`
		named.set(name, one)
	}
	return named
}

/** The server's cache, if it knows its size. */
export function writeCache(page: Exposition, { size, bytes }: Cache): void {
	if (size !== undefined) page.gauge('verbena_cache_entries', 'Entries of the cache.', size)
	if (bytes !== undefined) page.gauge('verbena_cache_bytes', 'Bytes of keys and values in the cache.', bytes)
}

/** The process, under the names of prom-client, for its dashboards. */
export function writeProcess(page: Exposition): void {
	const { user, system } = process.cpuUsage()
	const cpu = 'seconds of CPU time that the process has used'
	page.counter('process_cpu_user_seconds_total', `User ${cpu}.`, user / 1e6)
	page.counter('process_cpu_system_seconds_total', `System ${cpu}.`, system / 1e6)
	page.counter('process_cpu_seconds_total', `All ${cpu}.`, (user + system) / 1e6)
	const started = performance.timeOrigin / 1_000
	page.gauge('process_start_time_seconds', 'When the process started, since 1970.', started)
	const { rss, heapTotal, heapUsed, external } = process.memoryUsage()
	page.gauge('process_resident_memory_bytes', 'Resident memory.', rss)
	page.gauge('nodejs_heap_size_total_bytes', "Size of V8's heap.", heapTotal)
	page.gauge('nodejs_heap_size_used_bytes', "Used part of V8's heap.", heapUsed)
	page.gauge('nodejs_external_memory_bytes', "Memory outside of V8's heap that its objects hold.", external)
	const [major = '', minor = '', patch = ''] = process.versions.node.split('.')
	const labels = { version: process.version, major, minor, patch }
	page.gauge('nodejs_version_info', 'The version of Node.', [[labels, 1]])
}

/** How often the delay is measured. */
const RESOLUTION: Milliseconds = 10

/** The delay of the event loop since the last reading: how late a timer is called. */
export class LoopDelay {
	readonly #histogram: IntervalHistogram

	constructor() {
		// Not imported: runtimes other than Node lack it, and would fail at the import.
		const { monitorEventLoopDelay } = process.getBuiltinModule('node:perf_hooks')
		this.#histogram = monitorEventLoopDelay({ resolution: RESOLUTION })
		this.#histogram.enable()
	}

	write(page: Exposition): void {
		const all = this.#histogram
		const gauge = (name: string, what: string, nanoseconds: number) => {
			// node's value includes the timer's interval, and is NaN before the first call.
			const delay = Math.max(nanoseconds / 1e9 - RESOLUTION / 1_000, 0)
			page.gauge(name, `${what} delay of the event loop since the last scrape.`, delay || 0)
		}
		gauge('nodejs_eventloop_lag_seconds', 'Mean', all.mean)
		gauge('nodejs_eventloop_lag_max_seconds', 'Maximum', all.count === 0 ? 0 : all.max)
		for (const part of [50, 90, 99])
			gauge(`nodejs_eventloop_lag_p${part}_seconds`, `${part} % quantile of the`, all.percentile(part))
		all.reset()
	}

	stop(): void {
		this.#histogram.disable()
	}
}
