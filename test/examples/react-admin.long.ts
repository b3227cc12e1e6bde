/**
 * `examples/react-admin`, as people use it: copied, installed from its lock file, type-checked against react-admin's
 * own types, bundled, served by a real server, and used in a browser.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { findings } from '../explorer/axe.ts'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { until } from '../helpers/listening.ts'
import type { Running } from '../helpers/program.ts'
import { compiled, install, serve } from './administration.ts'

/** What Chromium itself says of an answer that is no success. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4(?:12|22) /

/** What MUI opens is appended to the body, outside of `<main>`, on whatever page; all else must be in a landmark. */
const OPENED = ['region']

interface Look {
	readonly width: number
	readonly colorScheme: 'light' | 'dark'
}

const DESK: Look = { width: 1_280, colorScheme: 'light' }
const LOOKS: readonly Look[] = [DESK, { width: 390, colorScheme: 'dark' }]

describe('examples/react-admin', (test) => {
	const browserTest = inChromium(test, 'examples/react-admin')
	const copy = mkdtempSync(join(tmpdir(), 'verbena-react-admin-'))
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

	/**
	 * Opens a path of the administration and runs `use`, with what the page has asked the API so far; fails where the page has
	 * complained on its console.
	 */
	async function onPage(
		path: string,
		use: (page: Page, asked: string[]) => Promise<void>,
		prepare: (page: Page) => Promise<unknown> = async () => {},
		{ width, colorScheme }: Look = DESK,
	): Promise<void> {
		const viewport = { width, height: 900 }
		const context = await browser?.newContext({ viewport, colorScheme, locale: 'en-GB' })
		assert.ok(context, 'the program has not started')
		const page = await context.newPage()
		page.setDefaultTimeout(30_000)
		const complaints: string[] = []
		page.on('pageerror', (error) => complaints.push(String(error)))
		page.on('console', (message) => {
			if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
		})
		const asked: string[] = []
		page.on('request', (request) => {
			const [, url] = decodeURIComponent(request.url()).split('/api/')
			if (url !== undefined) asked.push(`${request.method()} ${url}`)
		})
		try {
			await prepare(page)
			await page.goto(`${origin}/#${path}`)
			await use(page, asked)
			assert.equal(
				complaints.filter((text) => !REFUSED.test(text)),
				[],
			)
		} finally {
			await context.close()
		}
	}

	test('installs from its lock file', async () => {
		folder = await install(copy)
	})

	test('compiles: our data provider has the type react-admin expects', async () => {
		assert.is(await compiled(folder), '')
	})

	browserTest('is bundled and served', async () => {
		browser = await launch()
		const served = await serve(folder)
		program = served.program
		origin = served.origin
	})

	browserTest('lists records with their authors and tags by one request, sorts by these, and pages', () =>
		onPage('/articles', async (page, asked) => {
			await shows(page, '1-10 of 40')
			assert.is((await titles(page))[0], 'Chervil and its neighbours')
			const cells = page.locator('tbody tr').nth(1).locator('td')
			assert.equal((await cells.allTextContents()).slice(1, 4), [
				'Chervil for tea',
				'Clary Wort',
				'herbkitchen',
			])
			assert.equal(asked, ['GET articles?limit=10&offset=0&sort=-created&count=exact&include=author,tags'])
			await page.getByRole('button', { name: 'Sort by Author ascending' }).click()
			await begins(page, 'Lemon verbena through the winter')
			assert.is(await page.locator('tbody td.column-author\\.name').first().textContent(), 'Ada Mint')
			await page.getByRole('button', { name: 'Sort by title ascending' }).click()
			await begins(page, 'Borage and its neighbours')
			await page.getByRole('button', { name: 'Go to next page' }).click()
			await shows(page, '11-20 of 40')
			await begins(page, 'Hyssop and its neighbours')
			assert.is(new Set(await titles(page)).size, 10)
			assert.is(asked.length, 4)
		}),
	)

	browserTest('shows a record with the author that came with it, and its tags, many to many', () => {
		// An author that is asked for never comes.
		const silent = (page: Page) => page.route('**/api/authors**', () => {})
		return onPage(
			'/articles/39/show',
			async (page, asked) => {
				await page.getByRole('link', { name: 'Clary Wort' }).waitFor()
				await page.getByText('kitchen', { exact: true }).waitFor()
				assert.equal(
					asked.filter((url) => !url.includes('authors')),
					['GET articles/39?include=author', 'GET articles/39/tags?limit=25&offset=0&sort=name&count=exact'],
				)
			},
			silent,
		)
	})

	for (const look of LOOKS)
		browserTest(`axe-core finds nothing, whatever is open: ${look.width}, ${look.colorScheme}`, () =>
			onPage('/articles', (page) => lookAround(page, origin), undefined, look),
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

	browserTest('filters by a related record, and by the field of one', () =>
		onPage('/articles', async (page, asked) => {
			await page.getByRole('button', { name: 'Add filter' }).click()
			await page.getByRole('menuitemcheckbox', { name: 'Tag' }).click()
			await page.getByRole('combobox', { name: 'Tag' }).fill('kit')
			await page.getByRole('option', { name: 'kitchen' }).click()
			await shows(page, '1-8 of 8')
			assert.ok(asked.some((url) => url.startsWith('GET articles?') && url.includes('&tags.id=3')))
			await page.goto(`${origin}/#/articles?filter={"author":{"name_startsWith":"Dill"}}`)
			await shows(page, '1-10 of 10')
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
			// Both move the button when they go.
			await page.getByText('is required', { exact: true }).waitFor({ state: 'detached' })
			await page.getByRole('option').first().waitFor({ state: 'detached' })
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

	browserTest('ties tags to a record, and unties them', () =>
		onPage('/articles/37', async (page, asked) => {
			const herb = page.getByRole('checkbox', { name: 'herb' })
			await herb.click()
			await page.getByRole('checkbox', { name: 'herb', checked: true }).waitFor()
			const tags = async () =>
				(await (await fetch(`${origin}/api/articles/37/tags`)).json()) as { data: unknown }
			assert.equal((await tags()).data, [{ id: 1, name: 'herb' }])
			await herb.click()
			await page.getByRole('checkbox', { name: 'herb', checked: false }).waitFor()
			assert.equal((await tags()).data, [])
			assert.equal(
				asked.filter((url) => !url.startsWith('GET')),
				['PUT articles/37/tags/1', 'DELETE articles/37/tags/1'],
			)
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

	browserTest("shows an author's articles, page by page", () =>
		onPage('/authors/2', async (page) => {
			await page.getByText('Borage for tea', { exact: true }).waitFor()
			assert.is(await page.getByRole('textbox', { name: 'Email' }).inputValue(), 'basil@example.org')
			await shows(page, '1-5 of 9')
			await page.getByRole('button', { name: 'Go to next page' }).click()
			await shows(page, '6-9 of 9')
			assert.is(new Set(await titles(page)).size, 4)
		}),
	)

	browserTest('shows the articles of a tag, many to many, with links to their authors', () =>
		onPage('/tags/2', async (page, asked) => {
			await shows(page, '1-5 of 8')
			assert.match((await titles(page))[0] ?? '', / and its neighbours$/)
			assert.equal(
				asked.filter((url) => url.includes('articles') || url.includes('authors')),
				['GET tags/2/articles?limit=5&offset=0&sort=-created&count=exact&include=author'],
			)
			await page.getByRole('link', { name: 'Basil Thorne' }).click()
			await page.getByRole('heading', { level: 1, name: 'Author Basil Thorne' }).waitFor()
		}),
	)

	browserTest('ends on SIGTERM', async () => {
		program?.child.kill('SIGTERM')
		assert.is(await program?.ended, 0)
	})
})

/** Opens the pages, each with a reference field or a reference list, and what can be opened on them; none has findings. */
async function lookAround(page: Page, origin: string): Promise<void> {
	const found: string[] = []
	const look = async (where: string, except?: readonly string[]) => {
		// In the middle of a transition, colours are neither.
		await until(
			async () => (await page.evaluate('document.getAnimations().length')) === 0,
			`${where} is at rest`,
		)
		found.push(...(await findings(page, except)).map((finding) => `${where}: ${finding}`))
	}
	const open = async (path: string, title: string) => {
		await page.goto(`${origin}/#${path}`)
		await page.getByRole('heading', { level: 1, name: title }).waitFor()
	}
	await shows(page, '1-10 of 40')
	await look('a list, with the authors of its articles')
	await page.getByRole('checkbox', { name: 'Select this row' }).first().check()
	await page.getByText('1 item selected').waitFor()
	await look('a selection')
	await page.getByRole('button', { name: 'Unselect' }).click()
	await page.getByRole('button', { name: 'Add filter' }).click()
	await page.getByRole('menuitemcheckbox', { name: 'Since' }).waitFor()
	await look('the filters', OPENED)
	await open('/articles/39/show', 'Article Chervil for tea')
	await page.getByRole('link', { name: 'Clary Wort' }).waitFor()
	await page.getByText('kitchen', { exact: true }).waitFor()
	await look('an article, with its author and its tags')
	await open('/articles/39', 'Article Chervil for tea')
	await page.getByRole('checkbox', { name: 'kitchen', checked: true }).waitFor()
	await page.getByRole('combobox', { name: 'Author' }).click()
	await page.getByRole('option', { name: 'Dill Weed' }).waitFor()
	await look('a form, with the choice of an author', OPENED)
	await open('/authors/2', 'Author Basil Thorne')
	await shows(page, '1-5 of 10')
	await look('an author, with the articles')
	await open('/tags/3', 'Tag kitchen')
	await page.getByRole('link', { name: 'Dill Weed' }).first().waitFor()
	await look('a tag, with its articles and their authors')
	await page.getByRole('button', { name: 'Delete' }).click()
	await page.getByRole('button', { name: 'Confirm' }).waitFor()
	await look('a question')
	await open('/articles/create', 'Create Article')
	await page.getByRole('textbox', { name: 'Title' }).fill('ab')
	await page.getByRole('button', { name: 'Save' }).click()
	await page.getByText('is required', { exact: true }).waitFor()
	await look('a form that was refused')
	assert.equal(found, [])
}

/** Waits until the pagination says so. @throws Error with what the page says instead */
async function shows(page: Page, text: string): Promise<void> {
	try {
		await page.getByText(text, { exact: true }).waitFor()
	} catch (cause) {
		throw new Error(`not ${text}, but: ${await page.locator('body').textContent()}`, { cause })
	}
}

/** Waits until the first record has a title. */
async function begins(page: Page, title: string): Promise<void> {
	await page.locator('tbody tr:first-child td.column-title').getByText(title, { exact: true }).waitFor()
}

function titles(page: Page): Promise<string[]> {
	return page.locator('tbody td.column-title').allTextContents()
}
