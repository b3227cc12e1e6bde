/**
 * `examples/refine`, as people use it: copied, installed from its lock file, type-checked against refine's own types,
 * bundled, served by a real server, and used in a browser.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { findings } from '../explorer/axe.ts'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import type { Running } from '../helpers/program.ts'
import { compiled, install, serve } from './administration.ts'

/** What Chromium itself says of an answer that is no success. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4(?:12|22) /

describe('examples/refine', (test) => {
	const browserTest = inChromium(test, 'examples/refine')
	const copy = mkdtempSync(join(tmpdir(), 'verbena-refine-'))
	let folder = ''
	let program: Running | undefined
	let browser: Browser | undefined
	let origin = ''

	test.after(async () => {
		await browser?.close()
		program?.child.kill('SIGKILL')
		await program?.ended
		rmSync(copy, { recursive: true, force: true })
	})

	/** Opens the list and runs `use`, with what the page has asked the API so far; fails where the page has complained. */
	async function onPage(use: (page: Page, asked: string[]) => Promise<void>): Promise<void> {
		const page = await browser?.newPage()
		assert.ok(page, 'the program has not started')
		page.setDefaultTimeout(30_000)
		const complaints: string[] = []
		page.on('pageerror', (error) => complaints.push(String(error)))
		page.on('console', (message) => {
			if (message.type() === 'error') complaints.push(message.text())
		})
		const asked: string[] = []
		page.on('request', (request) => {
			const [, url] = decodeURIComponent(request.url()).split('/api/')
			if (url !== undefined) asked.push(`${request.method()} ${url}`)
		})
		try {
			await page.goto(origin)
			await use(page, asked)
			assert.equal(
				complaints.filter((text) => !REFUSED.test(text)),
				[],
			)
		} finally {
			await page.close()
		}
	}

	test('installs from its lock file', async () => {
		folder = await install(copy, 'refine')
	})

	test('compiles: our data provider has the type refine expects', async () => {
		assert.is(await compiled(folder), '')
	})

	browserTest('is bundled and served', async () => {
		browser = await launch()
		const served = await serve(folder, 'The articles are at')
		program = served.program
		origin = served.origin
	})

	browserTest('lists records with related ones by one request; sorts, searches, filters and pages', () =>
		onPage(async (page, asked) => {
			await shows(page, 'Page 1 of 4, 40 articles')
			await begins(page, 'Chervil and its neighbours')
			assert.equal(asked, ['GET articles?limit=10&offset=0&sort=-created&count=exact&include=author,tags'])
			assert.equal(await findings(page), [])
			await page.getByRole('button', { name: 'Author', exact: true }).click()
			await begins(page, 'Lemon verbena through the winter')
			await page.getByRole('button', { name: 'Next' }).click()
			await shows(page, 'Page 2 of 4, 40 articles')
			await page.getByLabel('Search').fill('pot')
			await shows(page, 'Page 1 of 1, 8 articles')
			await page.getByLabel('Status').selectOption('draft')
			await shows(page, 'Page 1 of 1, 2 articles')
		}),
	)

	browserTest('shows errors at their inputs, and creates when they are corrected', () =>
		onPage(async (page) => {
			await page.getByRole('button', { name: 'New article' }).click()
			await page.getByLabel('Title').fill('ab')
			await page.getByRole('button', { name: 'Save' }).click()
			await page.getByText('must have at least 3 characters', { exact: true }).waitFor()
			await page.getByText('is required', { exact: true }).waitFor()
			assert.is(await page.getByLabel('Title').getAttribute('aria-invalid'), 'true')
			assert.equal(await findings(page), [])
			await page.getByLabel('Title').fill('Mint <script>alert(1)</script>')
			await page.getByLabel('Author').selectOption('Clary Wort')
			await page.getByRole('button', { name: 'Save' }).click()
			await begins(page, 'Mint <script>alert(1)</script>')
		}),
	)

	browserTest('shows a record with related ones, edits it, and reports a conflict', () =>
		onPage(async (page, asked) => {
			await page.getByRole('button', { name: 'Chervil for tea' }).click()
			await shows(page, 'By Clary Wort. Tags: herb, kitchen')
			await page.getByRole('button', { name: 'Edit' }).click()
			await page.getByRole('option', { name: 'Dill Weed', selected: false }).waitFor({ state: 'attached' })
			assert.is(await page.getByLabel('Author').inputValue(), '3')
			assert.ok(asked.some((url) => url.startsWith('GET authors?') && url.includes('id=3')))
			await page.getByLabel('Title').fill('Chervil for salad')
			const meanwhile = await fetch(`${origin}/api/articles/39`, {
				method: 'PATCH',
				headers: { 'Content-Type': 'application/json' },
				body: '{"title":"Chervil for all"}',
			})
			assert.is(meanwhile.status, 200)
			await page.getByRole('button', { name: 'Save' }).click()
			await shows(page, 'Somebody else has changed this meanwhile: refresh, and do it again')
			await page.getByRole('button', { name: 'Cancel' }).click()
			await page.getByRole('button', { name: 'Chervil for all' }).click()
			await page.getByRole('button', { name: 'Edit' }).click()
			await page.getByLabel('Title').fill('Chervil for soup')
			await page.getByRole('button', { name: 'Save' }).click()
			await page.getByRole('button', { name: 'Chervil for soup' }).waitFor()
		}),
	)

	browserTest('deletes one, and several by one request', () =>
		onPage(async (page, asked) => {
			await page.getByRole('button', { name: 'Chervil in a pot' }).click()
			await page.getByRole('button', { name: 'Delete' }).click()
			await shows(page, 'Page 1 of 4, 40 articles')
			await page.getByLabel('Select Borage from cuttings').check()
			await page.getByLabel('Select Borage in a pot').check()
			await page.getByRole('button', { name: 'Delete 2 selected' }).click()
			await shows(page, 'Page 1 of 4, 38 articles')
			assert.is(asked.filter((url) => url.startsWith('DELETE')).length, 2)
		}),
	)

	browserTest('ends on SIGTERM', async () => {
		program?.child.kill('SIGTERM')
		assert.is(await program?.ended, 0)
	})
})

async function shows(page: Page, text: string): Promise<void> {
	await page.getByText(text, { exact: true }).waitFor()
}

/** Waits until the first record has a title. */
async function begins(page: Page, title: string): Promise<void> {
	await page.locator('tbody tr:first-child').getByText(title, { exact: true }).waitFor()
}
