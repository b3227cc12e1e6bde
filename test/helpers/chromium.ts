/**
 * Chromium without a window, for tests of pages. It is the one of the system: `apt-get install chromium`. Where
 * there is none, these tests are skipped, loudly; where `CI=true`, they fail.
 */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import type { Test } from 'uvu'

const EXECUTABLE = '/usr/bin/chromium'

const ARGS = [
	...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
	...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** `test`; without a browser, unless in CI, `test.skip`. */
export function inChromium(test: Test, what: string): Test | Test['skip'] {
	if (process.env.CI === 'true' || existsSync(EXECUTABLE)) return test
	console.error(`\n  SKIPPED: ${what} needs ${EXECUTABLE}: apt-get install chromium\n`)
	return test.skip
}

/** Starts a browser, which the caller closes. Call it in a test: an error in a hook fails nothing. */
export function launch(): Promise<Browser> {
	if (!existsSync(EXECUTABLE)) throw new Error(`there is no ${EXECUTABLE}: apt-get install chromium`)
	return chromium.launch({ executablePath: EXECUTABLE, args: ARGS })
}
