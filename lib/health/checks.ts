/**
 * `Readiness`: the checks behind `/ready`, which `health.ts` answers: whether all hold. However many ask, one round of checks is under way at most, and its outcome
 * holds for a second: a storm of probes must not become one of queries.
 */
import type { Logger } from '../base/logger.ts'
import type { Clock, Milliseconds } from '../base/time.ts'

/** Resolves, or returns, where all is well. It has failed where it throws, rejects, or answers `false`. */
export type HealthCheck = () => unknown

/** How long a result is reused before checking again. */
const MEMORY: Milliseconds = 1_000

/** A check and its state. */
interface Checked {
	/** For the log alone. */
	readonly name: string
	readonly check: HealthCheck
	/** Still running, perhaps long after its timeout: a check is never started while it runs. */
	running: Promise<void> | undefined
	hasFailed: boolean
}

export class Readiness {
	readonly #logger: Logger
	readonly #clock: Clock
	readonly #timeout: Milliseconds
	#checks: readonly Checked[] = []
	#round: Promise<boolean> | undefined
	#isReady = false
	#until: Milliseconds = Number.NEGATIVE_INFINITY

	constructor(logger: Logger, clock: Clock, timeout: Milliseconds) {
		this.#logger = logger
		this.#clock = clock
		this.#timeout = timeout
	}

	add(name: string, check: HealthCheck): void {
		this.#checks = [...this.#checks, { name, check, running: undefined, hasFailed: false }]
		this.#until = Number.NEGATIVE_INFINITY
	}

	/** Never rejects. */
	ask(): boolean | Promise<boolean> {
		if (this.#checks.length === 0) return true
		if (this.#round !== undefined) return this.#round
		if (this.#clock() < this.#until) return this.#isReady
		this.#round = this.#look(this.#checks)
		return this.#round
	}

	async #look(checks: readonly Checked[]): Promise<boolean> {
		let timer: NodeJS.Timeout | undefined
		const late = new Promise<never>((_, reject) => {
			const message = `it hasn't answered within ${this.#timeout} ms`
			timer = setTimeout(() => reject(new Error(message)), this.#timeout)
		})
		const found = await Promise.all(checks.map((one) => this.#holds(one, late)))
		clearTimeout(timer)
		this.#isReady = !found.includes(false)
		// What was added meanwhile hasn't been asked.
		this.#until = checks === this.#checks ? this.#clock() + MEMORY : Number.NEGATIVE_INFINITY
		this.#round = undefined
		return this.#isReady
	}

	async #holds(one: Checked, late: Promise<never>): Promise<boolean> {
		// Still running: an earlier round has logged this.
		if (one.running !== undefined) return false
		one.running = run(one)
		try {
			await Promise.race([one.running, late])
			if (one.hasFailed) this.#tell('info', { check: one.name }, 'a health check holds again')
			one.hasFailed = false
		} catch (error) {
			if (!one.hasFailed) this.#tell('error', { check: one.name, err: error }, 'a health check has failed')
			one.hasFailed = true
		}
		return !one.hasFailed
	}

	#tell(level: 'info' | 'error', fields: object, message: string): void {
		try {
			this.#logger[level](fields, message)
		} catch {}
	}
}

function run(one: Checked): Promise<void> {
	const running = (async () => {
		if ((await one.check()) === false) throw new Error('it answered false')
	})()
	const end = (): void => {
		one.running = undefined
	}
	running.then(end, end)
	return running
}
