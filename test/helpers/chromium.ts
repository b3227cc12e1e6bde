/**
 * Headless Chromium for tests of pages. It is installed by the system: `apt-get install chromium-headless-shell`, which has
 * the same engine as `chromium` and starts in a third of the time. Without either, these tests are skipped with a message;
 * with `CI=true` they fail.
 */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import type { Test } from 'uvu'

const PACKAGES = ['chromium-headless-shell', 'chromium']
const EXECUTABLE = PACKAGES.map((name) => `/usr/bin/${name}`).find((path) => existsSync(path))
const MISSING = `there is no Chromium: apt-get install ${PACKAGES[0]}`

const ARGS = [
	...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
	...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** `test`; `test.skip` if there is no browser and this isn't CI. */
export function inChromium(test: Test, what: string): Test | Test['skip'] {
	if (process.env.CI === 'true' || EXECUTABLE !== undefined) return test
	console.error(`\n  SKIPPED: ${what}: ${MISSING}\n`)
	return test.skip
}

/** Starts a browser, which the caller closes. Call it in a test: an error in a hook fails nothing. */
export function launch(): Promise<Browser> {
	if (EXECUTABLE === undefined) throw new Error(MISSING)
	return chromium.launch({ executablePath: EXECUTABLE, args: ARGS })
}
