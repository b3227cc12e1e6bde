/** The option `health` of `createServer`, with its bounds and defaults. */
import { nearest } from '../base/options.ts'
import type { Milliseconds } from '../base/time.ts'
import { parsePath } from '../routing/path.ts'

/** Resolves, or returns, where all is well. It has failed where it throws, rejects, or answers `false`. */
export type HealthCheck = () => unknown

/** The option `health`: where load balancers ask, and what must be well. */
export interface HealthOptions {
	/** Where it is asked, below `base`: of `'health'`, at `/health/live` and `/health/ready`. */
	readonly path: string
	/** What must be well for the server to be ready, beside its cache and its handlers' models. @default none */
	readonly checks?: readonly HealthCheck[]
	/** For all checks, which are made at once; what hasn't answered then has failed. From 1 up. @default 2_000 */
	readonly timeout?: Milliseconds
	/**
	 * How long `close()` goes on serving as before while it isn't ready any more, for a load balancer to see it. Longer
	 * than the time between two of its probes. From 0 up. @default 0
	 */
	readonly drainDelay?: Milliseconds
}

/** All there and checked. */
export interface HealthSettings {
	/** As it was typed. */
	readonly path: string
	readonly segments: readonly string[]
	readonly checks: readonly HealthCheck[]
	readonly timeout: Milliseconds
	readonly drainDelay: Milliseconds
}

const NAMES = ['path', 'checks', 'timeout', 'drainDelay']

/** node's timers take no more: about 24 days. */
const LONGEST: Milliseconds = 2_147_483_647

/** @throws TypeError for an option of the wrong kind, or that there isn't; RangeError for a time out of bounds */
export function healthSettings(option: HealthOptions | undefined): HealthSettings | undefined {
	if (option === undefined) return undefined
	if (typeof option !== 'object' || option === null || Array.isArray(option))
		throw new TypeError(`health must be an object: { path: 'health' }, got ${shown(option)}`)
	const unknown = Object.keys(option).find((name) => !NAMES.includes(name))
	if (unknown !== undefined) throw new TypeError(`health has no option ${unknown}${nearest(unknown, NAMES)}`)
	const { path, checks = [], timeout = 2_000, drainDelay = 0 } = option
	if (typeof path !== 'string')
		throw new TypeError(`health.path must be a path: 'health', got ${shown(path)}`)
	const segments = parsePath('health.path', path)
	if (segments.length === 0)
		throw new TypeError(
			"health.path must have a segment at least, such as 'health': every handler is below ''",
		)
	if (!Array.isArray(checks) || !checks.every((check) => typeof check === 'function'))
		throw new TypeError("health.checks must be an array of functions: [() => pool.query('select 1')]")
	checkTime('timeout', timeout, 1)
	checkTime('drainDelay', drainDelay, 0)
	return { path, segments, checks: [...checks], timeout, drainDelay }
}

function checkTime(name: string, value: unknown, least: number): void {
	if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= LONGEST) return
	const error = typeof value === 'number' ? RangeError : TypeError
	throw new error(
		`health.${name} must be a whole number of milliseconds from ${least} to ${LONGEST}, got ${shown(value)}`,
	)
}

function shown(value: unknown): string {
	return typeof value === 'number' || value == null ? String(value) : `a ${typeof value}`
}
