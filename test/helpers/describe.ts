/**
 * One uvu suite whose `.run()` cannot be forgotten: without it uvu silently passes a suite. An unhandled rejection fails
 * the test that is running then; otherwise it would end the process, and with it all further tests. A test that never ends
 * fails after a timeout; otherwise it would block all others.
 */
import { inspect } from 'node:util'
import { suite, type Test } from 'uvu'

type Callback = Parameters<Test>[1]

/** Timeout of a test or hook: none takes this long, even on a heavily loaded machine. Milliseconds. */
const TIMEOUT = Number(process.env.VERBENA_TEST_LIMIT ?? 400_000)

/** Unhandled rejections that no test has failed for yet. */
const rejections: unknown[] = []

process.on('unhandledRejection', (reason) => rejections.push(reason))
process.on('exit', () => {
	if (rejections.length === 0) return
	console.error('Rejected, and nobody has listened:', ...rejections)
	process.exitCode = 1
})

export function describe(name: string, body: (test: Test) => void): void {
	const test = suite(name)
	failWithHooks(test)
	const failingOnRejections =
		(handler: Callback): Callback =>
		async (context) => {
			try {
				await withTimeout(() => handler(context))
			} catch (error) {
				// The test fails with its own error, so rejections are only printed.
				const reasons = await takeUnhandled()
				if (reasons.length > 0) console.error(`rejected beside a failure of ${name}:`, ...reasons)
				throw reportable(error)
			}
			const reasons = await takeUnhandled()
			if (reasons.length > 0)
				throw new Error(`rejected, and nobody has listened: ${reasons.map((one) => inspect(one)).join('; ')}`)
		}
	// Not in `after.each`: if that throws after a failed test, uvu forgets the failure and all following tests.
	const wrapped = (title: string, handler: Callback): void => test(title, failingOnRejections(handler))
	body(Object.assign(wrapped, test))
	test.run()
}

/**
 * The error in a form that uvu can print. uvu calls `error.details.split`, but `details` of a `RestError` or `ApiError` is an
 * array, and it reads `stack` and `name` of a thrown value that may be undefined. When that throws, within uvu's own `catch`,
 * uvu forgets the failure and all further tests, and exits with 0.
 */
export function reportable(error: unknown): Error {
	if (!(error instanceof Error)) return new Error(`thrown, and not an Error: ${inspect(error)}`)
	const { details = '' } = error as { details?: unknown }
	if (typeof details === 'string' && typeof error.stack === 'string') return error
	const plain = new Error(`${error.name}: ${error.message} ${inspect(details)}`, { cause: error.cause })
	plain.stack = `${plain.message}\n${String(error.stack).split('\n').slice(1).join('\n')}`
	return plain
}

/** The unhandled rejections so far. Node reports them when the microtask queue is empty, so this waits a turn of the loop. */
async function takeUnhandled(): Promise<unknown[]> {
	await new Promise((resolve) => setImmediate(resolve))
	return rejections.splice(0)
}

/** Runs `work` with a timeout. @throws Error that lists what this process waits for */
async function withTimeout(work: () => unknown): Promise<void> {
	let timer: NodeJS.Timeout | undefined
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => {
			const waiting = process.getActiveResourcesInfo().join(', ')
			reject(new Error(`it has not ended within ${TIMEOUT} ms; this process waits for ${waiting}`))
		}, TIMEOUT)
	})
	try {
		await Promise.race([work(), late])
	} finally {
		clearTimeout(timer)
	}
}

/** Fails every test of a suite whose `before` failed: uvu would skip them all and exit with 0. */
function failWithHooks(test: Test): void {
	const failures: unknown[] = []
	const { before, after } = test
	const beforeHook: typeof before = (hook) =>
		before(async (context) => {
			try {
				await withTimeout(() => hook(context))
			} catch (error) {
				failures.push(reportable(error))
			}
		})
	// After a failed `before`, an error here is only its consequence: there is nothing to close.
	const afterHook: typeof after = (hook) =>
		after(async (context) => {
			try {
				await withTimeout(() => hook(context))
			} catch (error) {
				if (failures.length === 0) throw error
			}
		})
	beforeHook.each = (hook) =>
		before.each(async (context) => {
			try {
				await withTimeout(() => hook(context))
			} catch (error) {
				throw reportable(error)
			}
		})
	afterHook.each = after.each
	test.before = beforeHook
	test.after = afterHook
	test.before.each(() => {
		if (failures.length > 0) throw failures[0]
	})
}
