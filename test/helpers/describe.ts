/**
 * One uvu suite whose `.run()` cannot be forgotten: without it uvu passes a suite in silence. A promise that is rejected
 * and that nobody has listened to fails the test that runs then; by itself it would end all that are still to come. So
 * does a test that never ends, which would hold up all of them.
 */
import { inspect } from 'node:util'
import { suite, type Test } from 'uvu'

type Callback = Parameters<Test>[1]

/** No test takes so long, nor a hook, on a machine whose host takes most of it; milliseconds. */
const LONGEST = Number(process.env.VERBENA_TEST_LIMIT ?? 400_000)

/** What was rejected, and no test has failed of it yet. */
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
				// The reason is told already; what was left behind by it is told beside.
				const reasons = await unheardNow()
				if (reasons.length > 0) console.error(`rejected beside a failure of ${name}:`, ...reasons)
				throw reportable(error)
			}
			const reasons = await unheardNow()
			if (reasons.length > 0)
				throw new Error(`rejected, and nobody has listened: ${reasons.map((one) => inspect(one)).join('; ')}`)
		}
	// Not by `after.each`: uvu forgets a failure, and all tests behind it, where that throws too.
	const telling = (title: string, handler: Callback): void => test(title, heard(handler))
	body(Object.assign(telling, test))
	test.run()
}

/**
 * The error as uvu can print it. uvu splits `error.details`, which of a `RestError` or `ApiError` is an array, and reads
 * `stack` and `name` of whatever was thrown: where that throws, within uvu's own `catch`, it forgets the failure and all
 * tests behind it, and ends with 0.
 */
export function reportable(error: unknown): Error {
	if (!(error instanceof Error)) return new Error(`thrown, and not an Error: ${inspect(error)}`)
	const { details = '' } = error as { details?: unknown }
	if (typeof details === 'string' && typeof error.stack === 'string') return error
	const plain = new Error(`${error.name}: ${error.message} ${inspect(details)}`, { cause: error.cause })
	plain.stack = `${plain.message}\n${String(error.stack).split('\n').slice(1).join('\n')}`
	return plain
}

/** Node tells of them when all promises of a turn have been looked at. */
async function unheardNow(): Promise<unknown[]> {
	await new Promise((resolve) => setImmediate(resolve))
	return unheard.splice(0)
}

/** Runs `work`. @throws Error with what this process waits for, where it takes longer than anything should */
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

/** Fails each test where a `before` has failed, which uvu forgets: it runs none of them, and ends with 0. */
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
	// What wasn't opened can't be closed: the reason is told already.
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
