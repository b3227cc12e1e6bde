/**
 * Takes the pictures of `examples/react-admin` for the documentation: `docs/images/react-admin-tag-1000-light.png` and its
 * kin.
 *
 *     node --import tsx test/examples/react-admin-screenshots.ts
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { launch } from '../helpers/chromium.ts'
import { ROOT } from '../helpers/program.ts'
import { install, serve } from './administration.ts'

const FOLDER = process.argv[2] ?? `${ROOT}/docs/images`
const PHONE = { width: 390, height: 844 }
const PICTURES: readonly Picture[] = [
	// A reference field, and a reference list as chips.
	{
		...{ name: 'article', path: '/articles/39/show', colorScheme: 'light', width: 1_000, height: 340 },
		texts: ['Clary Wort', 'kitchen'],
	},
	// A reference list as a table, with a reference field in each row.
	{
		...{ name: 'tag', path: '/tags/3', colorScheme: 'light', width: 1_000, height: 540 },
		texts: ['Chervil for tea', 'Clary Wort'],
	},
	{ name: 'tag', path: '/tags/3', colorScheme: 'light', ...PHONE, texts: ['Chervil for tea', 'Clary Wort'] },
]

interface Picture {
	readonly name: string
	readonly path: string
	readonly colorScheme: 'light' | 'dark'
	readonly width: number
	readonly height: number
	/** What is on the page once it has everything. */
	readonly texts: readonly string[]
}

async function take(browser: Browser, origin: string, picture: Picture): Promise<void> {
	const { name, path, colorScheme, width, height, texts } = picture
	const viewport = { width, height }
	const context = await browser.newContext({ colorScheme, viewport, locale: 'en-GB', timezoneId: 'UTC' })
	const page = await context.newPage()
	await page.goto(`${origin}/#${path}`)
	for (const text of texts) await page.getByText(text, { exact: true }).first().waitFor()
	await page.mouse.move(0, 0)
	const file = `${FOLDER}/react-admin-${name}-${width}-${colorScheme}.png`
	await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' })
	await context.close()
}

const copy = mkdtempSync(join(tmpdir(), 'verbena-react-admin-'))
try {
	const { program, origin } = await serve(await install(copy))
	const browser = await launch()
	try {
		mkdirSync(FOLDER, { recursive: true })
		for (const picture of PICTURES) await take(browser, origin, picture)
	} finally {
		await browser.close()
		program.child.kill('SIGKILL')
		await program.ended
	}
} finally {
	rmSync(copy, { recursive: true, force: true })
}
