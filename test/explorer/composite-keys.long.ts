/** Records with a key of several fields, in a real browser: from the list and from the map to the record and its forms. */
import type { Browser, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import type { Server } from '../../lib/index.ts'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { column, visit } from './garden.ts'
import { keyedServer } from './keyed.ts'

describe('explorer: keys of several fields, in the page', (test) => {
	const browserTest = inChromium(test, 'the explorer')
	let browser: Browser | undefined
	let site: { server: Server; url: string } | undefined

	test.after(async () => {
		await browser?.close()
		await site?.server.close()
	})

	async function on(path: string, use: (page: Page) => Promise<void>): Promise<void> {
		browser ??= await launch()
		if (site === undefined) {
			const server = keyedServer()
			site = { server, url: (await server.listen()).url }
		}
		await visit(browser, site.url, { path }, use)
	}

	/** Follows the link of a row. */
	async function follow(page: Page, row: string): Promise<void> {
		await page.getByRole('row', { name: row }).getByRole('link').last().click()
	}

	browserTest('a row leads to its record, which is changed alone', () =>
		on('/tags', async (page) => {
			assert.equal(await column(page, 1), ['7', '7', '8', '8'])
			await follow(page, '7 tree')
			await page.waitForURL(/\/tags\/7,tree$/)
			const form = page.locator('details.operation[open] form')
			await form.getByRole('textbox', { name: 'note', exact: true }).fill('changed')
			await form.getByRole('button', { name: 'Save changes' }).click()
			await page.getByText('Saved.').waitFor()
			await page.goBack()
			await page.getByRole('table').waitFor()
			await page.reload()
			assert.equal(await column(page, 3), ['seven herb', 'changed', 'eight odd', 'eight herb'])
		}),
	)

	browserTest('a key with a comma and a slash is shown, changed and deleted', () =>
		on('/tags', async (page) => {
			await follow(page, '8 a,b/c')
			await page.locator('dd').getByText('eight odd').waitFor()
			assert.is(new URL(page.url()).pathname, '/tags/8,a%2Cb%2Fc')
			const form = page.locator('details.operation[open] form')
			await form.getByRole('textbox', { name: 'note', exact: true }).fill('odder')
			await form.getByRole('button', { name: 'Save changes' }).click()
			await page.locator('dd').getByText('odder').waitFor()
			await page.getByText('Delete one of the article tags').click()
			await page.getByRole('button', { name: 'Delete…' }).click()
			await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
			await page.getByText('Deleted.').waitFor()
			await page.waitForURL(/\/tags$/)
			await page.getByRole('table').waitFor()
			assert.equal(await column(page, 2), ['herb', 'tree', 'herb'])
		}),
	)

	browserTest('a new record is opened by its Location', () =>
		on('/tags', async (page) => {
			await page.getByText('Add to the article tags').click()
			const form = page.locator('details.operation[open] form')
			await form.getByRole('textbox', { name: 'article', exact: true }).fill('9')
			await form.getByRole('textbox', { name: 'tag', exact: true }).fill('x,y')
			await form.getByRole('button', { name: 'Create' }).click()
			await page.getByText('Created.').waitFor()
			await page.keyboard.press('Enter')
			await page.waitForURL(/\/tags\/9,x%2Cy$/)
			await page.getByText('Save changes').waitFor()
		}),
	)

	const typed: [path: string, id: string, url: string][] = [
		['/tags/{id}', '7,herb', '/tags/7,herb'],
		['/tags/{id}', '9,x%2Cy', '/tags/9,x%2Cy'],
		['/mine/{id}', 'herb', '/mine/herb'],
	]
	for (const [path, id, url] of typed)
		browserTest(`the map goes from ${id} to ${url}`, () =>
			on('/', async (page) => {
				const input = page.getByLabel(`id of ${path}`, { exact: true })
				assert.match((await input.getAttribute('placeholder')) ?? '', /^article,tag/)
				await input.fill(id)
				await page.getByRole('button', { name: `Open ${path}`, exact: true }).click()
				await page.getByText('Save changes').waitFor()
				assert.is(new URL(page.url()).pathname, url)
			}),
		)

	browserTest('within a scope that fixes the hidden part of the key, rows lead to their records', () =>
		on('/narrow', async (page) => {
			await follow(page, 'tree')
			await page.waitForURL(/\/narrow\/tree$/)
			await page.locator('dd').getByText('seven tree').waitFor()
		}),
	)

	browserTest('records without a key are listed, without links', () =>
		on('/lines', async (page) => {
			await page.getByRole('cell', { name: 'first' }).waitFor()
			assert.is(await page.getByRole('table').getByRole('link').count(), 0)
		}),
	)
})
