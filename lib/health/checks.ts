/**
 * `Readiness`: runs the health checks behind `/ready`. Concurrent probes share one round of checks, and its result is
 * reused for a second, so that many probes don't become many queries.
 */
import { type Logger, logSafely } from '../base/logger.ts'
import type { Clock, Milliseconds } from '../base/time.ts'

/** A health check; fails if it throws, rejects, or returns `false`. */
export type HealthCheck = () => unknown

/** How long a result is reused. */
const RESULT_TTL: Milliseconds = 1_000

interface CheckState {
	/** For the log. */
	readonly name: string
	readonly check: HealthCheck
	/** Set until the check ends, even after its timeout: a check never runs twice at the same time. */
	running: Promise<void> | undefined
	hasFailed: boolean
}

export class Readiness {
	readonly #logger: Logger
	readonly #clock: Clock
	readonly #timeout: Milliseconds
	#checks: readonly CheckState[] = []
	#round: Promise<boolean> | undefined
	#isReady = false
	#expires: Milliseconds = Number.NEGATIVE_INFINITY

	constructor(logger: Logger, clock: Clock, timeout: Milliseconds) {
		this.#logger = logger
		this.#clock = clock
		this.#timeout = timeout
	}

	add(name: string, check: HealthCheck): void {
		this.#checks = [...this.#checks, { name, check, running: undefined, hasFailed: false }]
		this.#expires = Number.NEGATIVE_INFINITY
	}

	/** Never rejects. */
	isReady(): boolean | Promise<boolean> {
		if (this.#checks.length === 0) return true
		if (this.#round !== undefined) return this.#round
		if (this.#clock() < this.#expires) return this.#isReady
		this.#round = this.#runAll(this.#checks)
		return this.#round
	}

	async #runAll(checks: readonly CheckState[]): Promise<boolean> {
		let timer: NodeJS.Timeout | undefined
		const late = new Promise<never>((_, reject) => {
			const message = `it hasn't answered within ${this.#timeout} ms`
			timer = setTimeout(() => reject(new Error(message)), this.#timeout)
		})
		const results = await Promise.all(checks.map((one) => this.#run(one, late)))
		clearTimeout(timer)
		this.#isReady = !results.includes(false)
		// If a check was added meanwhile, the result is incomplete, and isn't reused.
		this.#expires = checks === this.#checks ? this.#clock() + RESULT_TTL : Number.NEGATIVE_INFINITY
		this.#round = undefined
		return this.#isReady
	}

	async #run(one: CheckState, late: Promise<never>): Promise<boolean> {
		// Still running since an earlier round, which has logged the timeout.
		if (one.running !== undefined) return false
		one.running = start(one)
		try {
			await Promise.race([one.running, late])
			if (one.hasFailed) logSafely(this.#logger, 'info', { check: one.name }, 'a health check passes again')
			one.hasFailed = false
		} catch (error) {
			if (!one.hasFailed)
				logSafely(this.#logger, 'error', { check: one.name, err: error }, 'a health check has failed')
			one.hasFailed = true
		}
		return !one.hasFailed
	}
}

function start(one: CheckState): Promise<void> {
	const running = (async () => {
		if ((await one.check()) === false) throw new Error('it returned false')
	})()
	const end = (): void => {
		one.running = undefined
	}
	running.then(end, end)
	return running
}
