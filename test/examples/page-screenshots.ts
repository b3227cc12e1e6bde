/**
 * Takes the pictures of `examples/crud-page` for the documentation: `docs/images/page-1280-dark.png` and its kin.
 *
 *     node --import tsx test/examples/page-screenshots.ts
 */
import { mkdirSync } from 'node:fs'
import { launch } from '../helpers/chromium.ts'
import { freePorts, ROOT, start, typescript, untilPrinted } from '../helpers/program.ts'

const FOLDER = process.argv[2] ?? `${ROOT}/docs/images`
const SIZES = [
	{ width: 1_280, height: 800 },
	{ width: 390, height: 844 },
]

const [port = 0] = await freePorts(1)
const program = start({ args: typescript('examples/crud-page/main.ts'), env: { PORT: String(port) } })
const browser = await launch()
try {
	await untilPrinted(program, 'the secret ')
	const [, secret = ''] = /the secret (\S+)/.exec(program.output()) ?? []
	mkdirSync(FOLDER, { recursive: true })
	for (const colorScheme of ['dark', 'light'] as const) {
		for (const viewport of SIZES) {
			const context = await browser.newContext({ colorScheme, viewport, locale: 'en-GB', timezoneId: 'UTC' })
			const page = await context.newPage()
			await page.goto(`http://127.0.0.1:${port}`)
			await page.getByRole('button', { name: 'Sign in' }).click()
			await page.getByLabel('Key').fill('demo')
			await page.getByLabel('Secret').fill(secret)
			await page.getByLabel('Secret').press('Enter')
			await page.getByText('Signed in as demo').waitFor()
			await page.getByText('1 to 10 of 40').waitFor()
			await page.mouse.move(0, 0)
			await page.evaluate('document.activeElement.blur()')
			await page.screenshot({ path: `${FOLDER}/page-${viewport.width}-${colorScheme}.png` })
			await context.close()
		}
	}
} finally {
	await browser.close()
	program.child.kill('SIGKILL')
}
