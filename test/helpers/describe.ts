/** One uvu suite whose `.run()` cannot be forgotten: without it uvu passes a suite in silence. */
import { suite, type Test } from 'uvu'

export function describe(name: string, body: (test: Test) => void): void {
	const test = suite(name)
	failWithHooks(test)
	body(test)
	test.run()
}

/** Fails each test where a `before` has failed, which uvu forgets: it runs none of them, and ends with 0. */
function failWithHooks(test: Test): void {
	const failures: unknown[] = []
	const { before, after } = test
	const noting: typeof before = (hook) =>
		before(async (context) => {
			try {
				await hook(context)
			} catch (error) {
				failures.push(error)
			}
		})
	// What wasn't opened can't be closed: the reason is told already.
	const closing: typeof after = (hook) =>
		after(async (context) => {
			try {
				await hook(context)
			} catch (error) {
				if (failures.length === 0) throw error
			}
		})
	noting.each = before.each
	closing.each = after.each
	test.before = noting
	test.after = closing
	test.before.each(() => {
		if (failures.length > 0) throw failures[0]
	})
}
