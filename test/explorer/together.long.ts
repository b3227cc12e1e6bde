/** Deleted records, totals, and records that are deleted together, in a real browser. */
import type { Browser, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { findings, tabTo } from './axe.ts'
import { column, focused, REFUSED, useToken, visit } from './garden.ts'
import { KEEPER, market } from './market.ts'

describe('explorer: records deleted and counted together', (test) => {
	const browserTest = inChromium(test, 'the explorer')
	let browser: Browser | undefined

	test.after(() => browser?.close())

	/** A page of a server of its own, for its keeper. */
	async function on(path: string, use: (page: Page) => Promise<void>): Promise<void> {
		browser ??= await launch()
		const server = market()
		try {
			const { url } = await server.listen()
			await visit(browser, url, { path, allowed: REFUSED }, async (page) => {
				await useToken(page, KEEPER)
				await use(page)
			})
		} finally {
			await server.close()
		}
	}

	browserTest('a record is deleted, found among the deleted, and restored', () =>
		on('/sales/2', async (page) => {
			await page.getByText('Delete one of the sales').click()
			await page.getByRole('button', { name: 'Delete…' }).click()
			await page.getByRole('heading', { name: 'Delete this?' }).waitFor()
			await page.getByRole('button', { name: 'Delete', exact: true }).click()
			await page.waitForURL(/\/sales$/)
			await page.getByText('Deleted.', { exact: true }).waitFor()
			assert.equal(await column(page, 1), ['1', '3', '4'])
			await page.getByRole('link', { name: 'It can be restored' }).click()
			await page.waitForURL(/\/sales\/2\?deleted=only$/)
			await page.getByText('This record is deleted.').waitFor()
			assert.equal(await findings(page), [])
			await page.goBack()
			await page.getByRole('link', { name: 'Show deleted' }).press('Enter')
			await page.getByText('These records are deleted.').waitFor()
			assert.is(await focused(page), 'deleted')
			assert.equal(await column(page, 1), ['2'])
			await page.getByRole('link', { name: '2', exact: true }).click()
			await page.waitForURL(/\/sales\/2\?deleted=only$/)
			assert.is(await page.getByText('Delete one of the sales').count(), 0)
			await tabTo(page, 'restore')
			await page.keyboard.press('Enter')
			await page.waitForURL(/\/sales\/2$/)
			await page.getByText('Restored.', { exact: true }).waitFor()
			await page.getByText('Change one of the sales').waitFor()
			assert.is(await page.getByText('This record is deleted.').count(), 0)
		}),
	)

	browserTest('a missing record leads to the deleted ones', () =>
		on('/sales/9', async (page) => {
			await page.getByRole('link', { name: 'Look among the deleted records' }).click()
			await page.waitForURL(/\/sales\/9\?deleted=only$/)
			await page.getByRole('link', { name: 'All routes' }).waitFor()
			assert.is(await page.getByRole('link', { name: 'Look among the deleted records' }).count(), 0)
		}),
	)
})
