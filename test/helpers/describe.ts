/** One uvu suite whose `.run()` cannot be forgotten: without it uvu passes a suite in silence. */
import { suite, type Test } from 'uvu'

export function describe(name: string, body: (test: Test) => void): void {
	const test = suite(name)
	body(test)
	test.run()
}
