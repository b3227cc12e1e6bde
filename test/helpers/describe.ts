/**
 * One uvu suite whose `.run()` cannot be forgotten: without it uvu silently passes a suite. An unhandled rejection fails
 * the test that is running then; by itself it would end the process and all further tests. A test that never ends fails
 * as well, as it would block all others.
 */
import { inspect } from 'node:util'
import { suite, type Test } from 'uvu'

type Callback = Parameters<Test>[1]

/** No test or hook takes this long, even on a machine that is heavily loaded; milliseconds. */
const LONGEST = Number(process.env.VERBENA_TEST_LIMIT ?? 400_000)

/** Unhandled rejections that no test has failed for yet. */
const unheard: unknown[] = []

process.on('unhandledRejection', (reason) => unheard.push(reason))
process.on('exit', () => {
	if (unheard.length === 0) return
	console.error('Rejected, and nobody has listened:', ...unheard)
	process.exitCode = 1
})

export function describe(name: string, body: (test: Test) => void): void {
	const test = suite(name)
	failWithHooks(test)
	const heard =
		(handler: Callback): Callback =>
		async (context) => {
			try {
				await ending(() => handler(context))
			} catch (error) {
				// The error is reported already; later rejections are printed along with it.
				const reasons = await unheardNow()
				if (reasons.length > 0) console.error(`rejected beside a failure of ${name}:`, ...reasons)
				throw reportable(error)
			}
			const reasons = await unheardNow()
			if (reasons.length > 0)
				throw new Error(`rejected, and nobody has listened: ${reasons.map((one) => inspect(one)).join('; ')}`)
		}
	// Not in `after.each`: when that throws too, uvu forgets a failure and all following tests.
	const telling = (title: string, handler: Callback): void => test(title, heard(handler))
	body(Object.assign(telling, test))
	test.run()
}

/**
 * The error in a form that uvu can print. uvu splits `error.details`, which in a `RestError` or `ApiError` is an array,
 * and reads `stack` and `name` of whatever was thrown: when that throws, within uvu's own `catch`, it forgets the failure
 * and all further tests, and exits with 0.
 */
export function reportable(error: unknown): Error {
	if (!(error instanceof Error)) return new Error(`thrown, and not an Error: ${inspect(error)}`)
	const { details = '' } = error as { details?: unknown }
	if (typeof details === 'string' && typeof error.stack === 'string') return error
	const plain = new Error(`${error.name}: ${error.message} ${inspect(details)}`, { cause: error.cause })
	plain.stack = `${plain.message}\n${String(error.stack).split('\n').slice(1).join('\n')}`
	return plain
}

/** Node reports them after all promises of a turn have been handled. */
async function unheardNow(): Promise<unknown[]> {
	await new Promise((resolve) => setImmediate(resolve))
	return unheard.splice(0)
}

/** Runs `work`. @throws Error with what this process waits for, when it takes too long */
async function ending(work: () => unknown): Promise<void> {
	let timer: NodeJS.Timeout | undefined
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => {
			const waiting = process.getActiveResourcesInfo().join(', ')
			reject(new Error(`it has not ended within ${LONGEST} ms; this process waits for ${waiting}`))
		}, LONGEST)
	})
	try {
		await Promise.race([work(), late])
	} finally {
		clearTimeout(timer)
	}
}

/** Fails each test after a failed `before`, which uvu ignores: it runs none of them, and exits with 0. */
function failWithHooks(test: Test): void {
	const failures: unknown[] = []
	const { before, after } = test
	const noting: typeof before = (hook) =>
		before(async (context) => {
			try {
				await ending(() => hook(context))
			} catch (error) {
				failures.push(reportable(error))
			}
		})
	// Nothing to close, as opening failed: the reason is reported already.
	const closing: typeof after = (hook) =>
		after(async (context) => {
			try {
				await ending(() => hook(context))
			} catch (error) {
				if (failures.length === 0) throw error
			}
		})
	noting.each = (hook) =>
		before.each(async (context) => {
			try {
				await ending(() => hook(context))
			} catch (error) {
				throw reportable(error)
			}
		})
	closing.each = after.each
	test.before = noting
	test.after = closing
	test.before.each(() => {
		if (failures.length > 0) throw failures[0]
	})
}
