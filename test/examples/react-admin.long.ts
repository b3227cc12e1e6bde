/**
 * `examples/react-admin`, as people use it: copied, installed from its lock file, type-checked against react-admin's
 * own types, bundled, served by a real server, and used in a browser.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { freePorts, ROOT, type Running, run, start, untilPrinted } from '../helpers/program.ts'

/** What Chromium itself says of an answer that is no success. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4(?:12|22) /

describe('examples/react-admin', (test) => {
	const browserTest = inChromium(test, 'examples/react-admin')
	const copy = mkdtempSync(join(tmpdir(), 'verbena-react-admin-'))
	const folder = `${copy}/examples/react-admin`
	let program: Running | undefined
	let browser: Browser | undefined
	let origin = ''

	test.after(async () => {
		await browser?.close()
		program?.child.kill('SIGKILL')
		await program?.ended
		rmSync(copy, { recursive: true, force: true })
	})

	/** Opens a path of the administration and runs `use`; fails where the page has complained on its console. */
	async function onPage(path: string, use: (page: Page) => Promise<void>): Promise<void> {
		const context = await browser?.newContext({ viewport: { width: 1_280, height: 900 }, locale: 'en-GB' })
		assert.ok(context, 'the program has not started')
		const page = await context.newPage()
		page.setDefaultTimeout(30_000)
		const complaints: string[] = []
		page.on('pageerror', (error) => complaints.push(String(error)))
		page.on('console', (message) => {
			if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
		})
		try {
			await page.goto(`${origin}/#${path}`)
			await use(page)
			assert.equal(
				complaints.filter((text) => !REFUSED.test(text)),
				[],
			)
		} finally {
			await context.close()
		}
	}

	test('installs from its lock file', async () => {
		cpSync(`${ROOT}/lib`, `${copy}/lib`, { recursive: true })
		cpSync(`${ROOT}/examples/react-admin`, folder, {
			recursive: true,
			filter: (source) => !source.includes('node_modules'),
		})
		const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
		const { code, output } = await run({ program: 'npm', args, cwd: folder })
		assert.is(code, 0, output)
	})

	test('compiles: our data provider has the type react-admin expects', async () => {
		const { output } = await run({ args: ['node_modules/typescript/bin/tsc', '--noEmit'], cwd: folder })
		assert.is(output, '')
	})

	browserTest('is bundled and served', async () => {
		browser = await launch()
		const [port = 0] = await freePorts(1)
		origin = `http://127.0.0.1:${port}`
		program = start({ args: ['--import', 'tsx', 'main.ts'], cwd: folder, env: { PORT: String(port) } })
		await untilPrinted(program, `The administration is at ${origin}`)
	})

	browserTest('lists records with their references, sorts, and pages', () =>
		onPage('/articles', async (page) => {
			await shows(page, '1-10 of 40')
			assert.is((await titles(page))[0], 'Chervil and its neighbours')
			await page.getByRole('link', { name: 'Dill Weed' }).first().waitFor()
			await page.getByRole('button', { name: 'Sort by title ascending' }).click()
			await begins(page, 'Borage and its neighbours')
			await page.getByRole('button', { name: 'Go to next page' }).click()
			await shows(page, '11-20 of 40')
			await begins(page, 'Hyssop and its neighbours')
			assert.is(new Set(await titles(page)).size, 10)
		}),
	)

	browserTest('searches and filters, by a value, an operator and a reference', () =>
		onPage('/articles', async (page) => {
			await page.getByPlaceholder('Search').fill('pot')
			await shows(page, '1-8 of 8')
			await page.getByRole('combobox', { name: 'Status' }).click()
			await page.getByRole('option', { name: 'Draft' }).click()
			await shows(page, '1-2 of 2')
			await page.getByPlaceholder('Search').fill('')
			await shows(page, '1-10 of 10')
			await page.getByRole('button', { name: 'Add filter' }).click()
			await page.getByRole('menuitemcheckbox', { name: 'Since' }).click()
			await page.getByLabel('Since').fill('2026-04-10')
			await shows(page, '1-2 of 2')
			assert.equal(await titles(page), ['Chervil and its neighbours', 'Chervil through the winter'])
		}),
	)

	browserTest('shows errors at their fields, and creates when they are corrected', () =>
		onPage('/articles/create', async (page) => {
			await page.getByRole('textbox', { name: 'Title' }).fill('ab')
			await page.getByRole('button', { name: 'Save' }).click()
			await page.getByText('must have at least 3 characters', { exact: true }).waitFor()
			assert.is(await page.getByRole('textbox', { name: 'Title' }).getAttribute('aria-invalid'), 'true')
			await page.getByText('is required', { exact: true }).waitFor()
			await page.getByRole('textbox', { name: 'Title' }).fill('Mint <script>alert(1)</script>')
			await page.getByRole('combobox', { name: 'Author' }).fill('clary')
			await page.getByRole('option', { name: 'Clary Wort' }).click()
			await page.getByRole('button', { name: 'Save' }).click()
			await shows(page, '1-10 of 41')
			await begins(page, 'Mint <script>alert(1)</script>')
		}),
	)

	browserTest('edits, and reports a conflict to the second who saves', () =>
		onPage('/articles', async (page) => {
			await page.getByText('Chervil for tea', { exact: true }).click()
			await page.getByRole('textbox', { name: 'Title' }).fill('Chervil for soup')
			await page.getByRole('button', { name: 'Save' }).click()
			await page.getByText('Chervil for soup', { exact: true }).click()
			await page.getByRole('textbox', { name: 'Title' }).fill('Chervil for salad')
			const meanwhile = await fetch(`${origin}/api/articles/39`, {
				method: 'PATCH',
				headers: { 'Content-Type': 'application/json' },
				body: JSON.stringify({ title: 'Chervil for all' }),
			})
			assert.is(meanwhile.status, 200)
			await page.getByRole('button', { name: 'Save' }).click()
			await page.getByText('Somebody else has changed this meanwhile: refresh, and do it again').waitFor()
			const now = await fetch(`${origin}/api/articles/39`)
			assert.match(await now.text(), '"Chervil for all"')
		}),
	)

	browserTest('deletes', () =>
		onPage('/articles', async (page) => {
			await page.getByText('Chervil in a pot', { exact: true }).click()
			await page.getByRole('button', { name: 'Delete' }).click()
			await page.getByRole('button', { name: 'Confirm' }).click()
			await shows(page, '1-10 of 40')
			assert.not((await titles(page)).includes('Chervil in a pot'))
		}),
	)

	browserTest("shows an author's articles", () =>
		onPage('/authors/2', async (page) => {
			await page.getByText('Borage for tea', { exact: true }).waitFor()
			assert.is(await page.getByRole('textbox', { name: 'Email' }).inputValue(), 'basil@example.org')
		}),
	)

	browserTest('ends on SIGTERM', async () => {
		program?.child.kill('SIGTERM')
		assert.is(await program?.ended, 0)
	})
})

/** Waits until the pagination says so. */
async function shows(page: Page, text: string): Promise<void> {
	await page.getByText(text, { exact: true }).waitFor()
}

/** Waits until the first record has a title. */
async function begins(page: Page, title: string): Promise<void> {
	await page.locator('tbody tr:first-child td.column-title').getByText(title, { exact: true }).waitFor()
}

function titles(page: Page): Promise<string[]> {
	return page.locator('tbody td.column-title').allTextContents()
}
