/** Deleted records, totals, and records that are changed and deleted together, in a real browser. */
import type { Browser, Locator, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { findings, tabTo } from './axe.ts'
import { column, focused, REFUSED, useToken, visit } from './garden.ts'
import { KEEPER, market } from './market.ts'

describe('explorer: records changed, deleted and counted together', (test) => {
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
			assert.equal(await column(page, 2), ['1', '3', '4'])
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

	browserTest('totals are chosen in a form, and shown as a table with bars', () =>
		on('/sales?item[ne]=dill', async (page) => {
			await page.getByRole('link', { name: 'Totals' }).click()
			await page.waitForURL(/\/sales\/totals\?count=exact&item/)
			assert.equal(await column(page, 1), ['3'])
			assert.is(await page.locator('.bar').count(), 0)
			const by = page.getByRole('group', { name: 'by' })
			await by.getByRole('checkbox', { name: 'item', exact: true }).check()
			await page.getByRole('group', { name: 'sum' }).getByRole('checkbox', { name: 'amount' }).press('Space')
			await tabTo(page, 'ask')
			await page.keyboard.press('Enter')
			await page.getByRole('columnheader', { name: 'sum.amount' }).waitFor()
			assert.is(
				decodeURIComponent(new URL(page.url()).search),
				'?by=item&sum=amount&count=exact&item[ne]=dill',
			)
			assert.is(await focused(page), 'ask')
			assert.equal(await column(page, 1), ['mint', 'sage'])
			assert.equal(await column(page, 2), ['1', '2'])
			assert.equal(await column(page, 3), ['-7.25', '310.00'])
			assert.equal(
				await page.locator('.bar').evaluateAll((all) => all.map((one) => one.getAttribute('style'))),
				['width: 50%;', 'width: 2.33871%;', 'width: 100%;', 'width: 100%;'],
			)
			assert.is(await page.locator('.bar.below').count(), 1)
			await page.getByRole('button', { name: 'sum.amount' }).press('Enter')
			await page
				.getByRole('columnheader', { name: 'sum.amount' })
				.and(page.locator('[aria-sort=ascending]'))
				.waitFor()
			assert.equal(await findings(page), [])
			await by.getByRole('checkbox', { name: 'item', exact: true }).uncheck()
			await by.getByRole('checkbox', { name: 'day:month' }).check()
			await page.getByRole('button', { name: 'Ask' }).click()
			await page.getByRole('columnheader', { name: 'day' }).waitFor()
			assert.equal(await column(page, 1), ['2026-10', '2026-11'])
			await page.getByRole('button', { name: 'Remove item ≠ dill' }).click()
			await page.waitForURL((url) => !url.search.includes('dill'))
			assert.is(await by.getByRole('checkbox', { name: 'day:month' }).isChecked(), true)
		}),
	)

	browserTest('without anything to count, totals say what is missing, above the form', () =>
		on('/sales/totals', async (page) => {
			await page.getByText('must be given').first().waitFor()
			await page.getByLabel('count').selectOption('exact')
			await page.getByRole('button', { name: 'Ask' }).click()
			await page.getByRole('columnheader', { name: 'count' }).waitFor()
			assert.equal(await column(page, 1), ['4'])
		}),
	)

	browserTest('records are selected with the keyboard, and deleted together', () =>
		on('/sales', async (page) => {
			// Without a condition it would be refused, so that there is no form for it.
			assert.is(await page.getByText('Delete those of the sales').count(), 0)
			const all = page.getByRole('checkbox', { name: 'Select all on this page' })
			await tabTo(page, 'select all')
			await page.keyboard.press('Space')
			await page.getByText('4 records selected').waitFor()
			await tabTo(page, 'select 1')
			await page.keyboard.press('Space')
			await page.getByText('3 records selected').waitFor()
			assert.is(await all.and(page.locator(':indeterminate')).count(), 1)
			await page.getByRole('checkbox', { name: 'Select 4' }).uncheck()
			await page.getByRole('button', { name: 'JSON' }).click()
			await page.getByRole('button', { name: 'Table' }).click()
			await page.getByText('2 records selected').waitFor()
			assert.equal(await findings(page), [])
			await tabTo(page, 'delete selected')
			await page.keyboard.press('Enter')
			const dialog = page.getByRole('dialog', { name: 'Delete 2 records?' })
			assert.is(await dialog.locator('.path').textContent(), '1 3')
			await dialog.getByRole('button', { name: 'Cancel' }).click()
			assert.equal(await column(page, 2), ['1', '2', '3', '4'])
			await page.getByRole('button', { name: 'Delete selected…' }).click()
			await dialog.getByRole('button', { name: 'Delete' }).click()
			await page.getByText('2 deleted.', { exact: true }).waitFor()
			await page.getByText('Select records to change or delete them.').waitFor()
			assert.equal(await column(page, 2), ['2', '4'])
			await page.getByRole('link', { name: 'See the deleted records' }).click()
			await page.getByText('These records are deleted.').waitFor()
			assert.equal(await column(page, 1), ['1', '3'])
			assert.is(await page.getByRole('checkbox').count(), 0)
		}),
	)

	browserTest('with keys of several columns, too; a refusal is told below the table', () =>
		on('/stalls', async (page) => {
			await page.getByRole('checkbox', { name: 'Select 1,a%2Cb' }).check()
			await page.getByRole('checkbox', { name: 'Select 2,c' }).check()
			await page.route(/filter=/, (route) =>
				route.fulfill({ status: 409, contentType: 'application/json', body: '{"error":"Not now"}' }),
			)
			const dialog = page.getByRole('dialog', { name: 'Delete 2 records for good?' })
			await page.getByRole('button', { name: 'Delete selected…' }).click()
			await dialog.getByRole('button', { name: 'Delete' }).click()
			await page.getByRole('alert').getByText('Not now (409)').waitFor()
			await page.unroute(/filter=/)
			await page.getByRole('button', { name: 'Delete selected…' }).click()
			await dialog.getByRole('button', { name: 'Delete' }).click()
			await page.getByText('2 deleted.', { exact: true }).waitFor()
			await page.getByText('Select records to delete them.').waitFor()
			assert.equal(await column(page, 3), ['c'])
			assert.equal(await column(page, 2), ['1'])
		}),
	)

	/** The bodies of the page's own PATCH requests. */
	function changesOn(page: Page): (string | null)[] {
		const sent: (string | null)[] = []
		page.on('request', (request) => {
			if (request.method() === 'PATCH') sent.push(request.postData())
		})
		return sent
	}

	/** Selects records by the last segments of their URLs, and opens the form that changes them. */
	async function change(page: Page, ...records: string[]): Promise<Locator> {
		for (const record of records)
			await page.getByRole('checkbox', { name: `Select ${record}`, exact: true }).check()
		await page.getByRole('button', { name: 'Change selected…' }).click()
		return page.locator('details.operation[open] form')
	}

	browserTest('records are selected with the keyboard, and one field of them is changed', () =>
		on('/sales', async (page) => {
			const sent = changesOn(page)
			for (const at of [0, 1, 3]) {
				await tabTo(page, `select ${at}`)
				await page.keyboard.press('Space')
			}
			await tabTo(page, 'change selected')
			await page.keyboard.press('Enter')
			assert.is(await focused(page), 'patch-item')
			await page.getByText('What you fill in is set in 3 records').waitFor()
			assert.is(await page.locator('#patch-day').getAttribute('type'), 'date')
			assert.is(await page.locator('#patch-id, #patch-version').count(), 0)
			await tabTo(page, 'patch-note')
			await page.keyboard.type('Paid in coins')
			assert.equal(await findings(page), [])
			await page.keyboard.press('Enter')
			await page.getByText('3 saved.', { exact: true }).waitFor()
			await page.getByText('Select records to change or delete them.').waitFor()
			assert.equal(sent, [
				'[{"id":1,"version":1,"note":"Paid in coins"},{"id":2,"version":1,"note":"Paid in coins"},{"id":4,"version":1,"note":"Paid in coins"}]',
			])
			assert.equal(await column(page, 6), ['Paid in coins', 'Paid in coins', 'null', 'Paid in coins'])
			assert.equal(await column(page, 3), ['sage', 'sage', 'mint', 'dill'])
			assert.equal(await column(page, 8), ['2', '2', '1', '2'])
			assert.is(await page.locator('#patch-note').inputValue(), '')
		}),
	)

	browserTest('a problem is at its input, with its records; null empties a field', () =>
		on('/sales', async (page) => {
			const sent = changesOn(page)
			const form = await change(page, '1', '3')
			const note = form.getByRole('textbox', { name: 'note', exact: true })
			await note.fill('no')
			await note.press('Enter')
			await form.getByText('records 1, 3: must have at least 3 characters').waitFor()
			assert.is(await focused(page), 'patch-note')
			assert.is(await note.getAttribute('aria-invalid'), 'true')
			assert.match((await page.locator('#patch-note-wrong').textContent()) ?? '', /^records 1, 3: /)
			assert.is(await form.getByRole('alert').textContent(), 'Nothing was saved: something isn’t right yet.')
			assert.equal(await findings(page), [])
			await page.setViewportSize({ width: 390, height: 844 })
			// Without transitions, in which colours have little contrast.
			await page.emulateMedia({ reducedMotion: 'reduce' })
			await page.emulateMedia({ reducedMotion: 'reduce', colorScheme: 'dark' })
			assert.equal(await findings(page), [])
			assert.is(await page.evaluate('document.documentElement.scrollWidth'), 390)
			await note.fill('yes')
			await note.press('Enter')
			await page.getByText('2 saved.', { exact: true }).waitFor()
			await page.getByText('Select records to change or delete them.').waitFor()
			assert.equal(await column(page, 6), ['yes', 'null', 'yes', 'null'])
			await change(page, '3')
			await form.getByLabel('null for note').check()
			await form.getByRole('button', { name: 'Save changes' }).click()
			await page.getByText('1 saved.', { exact: true }).waitFor()
			await page.getByText('Select records to change or delete them.').waitFor()
			assert.equal(await column(page, 6), ['yes', 'null', 'null', 'null'])
			assert.is(sent.at(-1), '[{"id":3,"version":2,"note":null}]')
		}),
	)

	browserTest('without selected records or filled fields nothing is sent', () =>
		on('/sales', async (page) => {
			const sent = changesOn(page)
			await page.getByText('Change several of the sales').click()
			const form = page.locator('details.operation[open] form')
			const alert = form.getByRole('alert')
			const item = form.getByRole('textbox', { name: 'item' })
			await item.fill('rue')
			await item.press('Enter')
			await alert.getByText('First select the records in the table.').waitFor()
			await change(page, '2')
			await item.fill('')
			await item.press('Enter')
			await alert.getByText('Nothing is filled in, so nothing was sent.').waitFor()
			assert.is(await focused(page), 'patch-item')
			assert.equal(sent, [])
		}),
	)

	browserTest('a related record is found by typing; the request can be seen and edited as JSON', () =>
		on('/sales', async (page) => {
			const sent = changesOn(page)
			const form = await change(page, '1', '2')
			const shop = form.getByRole('combobox', { name: 'shopId' })
			await shop.pressSequentially('harb')
			await page.getByRole('option', { name: 'Harbour' }).waitFor()
			await shop.press('ArrowDown')
			await shop.press('Enter')
			await form.getByText('shopId 2', { exact: true }).waitFor()
			await form.getByRole('button', { name: 'JSON', exact: true }).click()
			const json = form.getByLabel('JSON', { exact: true })
			const shown: unknown = JSON.parse(await json.inputValue())
			assert.equal(shown, [
				{ id: 1, version: 1, shopId: 2 },
				{ id: 2, version: 1, shopId: 2 },
			])
			await json.fill('[{"id":4,"item":1}]')
			await form.getByRole('button', { name: 'Save changes' }).click()
			await form.getByText('0.item: must be').waitFor()
			await form.getByRole('button', { name: 'Fields' }).click()
			await form.getByRole('button', { name: 'Save changes' }).click()
			await page.getByText('2 saved.', { exact: true }).waitFor()
			assert.is(sent.at(-1), '[{"id":1,"version":1,"shopId":2},{"id":2,"version":1,"shopId":2}]')
			await page.getByRole('cell', { name: 'Harbour' }).first().waitFor()
		}),
	)

	browserTest('a record that somebody has changed is named; what was selected and typed is kept', () =>
		on('/sales', async (page) => {
			const form = await change(page, '2', '3')
			await form.getByRole('textbox', { name: 'item' }).fill('rue')
			await page.evaluate(
				`fetch('/sales/3', { method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: '{"item":"balm"}' })`,
			)
			await form.getByRole('button', { name: 'Save changes' }).click()
			await form.getByRole('alert').getByText('record 3: ').waitFor()
			assert.is(await focused(page), 'load current')
			assert.equal(await column(page, 3), ['sage', 'sage', 'mint', 'dill'])
			await page.keyboard.press('Enter')
			await page.getByRole('cell', { name: 'balm' }).waitFor()
			await page.getByText('2 records selected').waitFor()
			await form.getByRole('button', { name: 'Save changes' }).click()
			await page.getByText('2 saved.', { exact: true }).waitFor()
			await page.getByText('Select records to change or delete them.').waitFor()
			assert.equal(await column(page, 3), ['sage', 'rue', 'rue', 'dill'])
		}),
	)

	browserTest('keys of several columns, and of many digits, name the records', () =>
		on('/slots', async (page) => {
			const sent = changesOn(page)
			await page.getByText('Select records to change them.').waitFor()
			const form = await change(page, 'a%2Cb,9007199254740992', 'a%2Cb,9007199254740993')
			await form.getByLabel('isFree').selectOption('false')
			await form.getByRole('button', { name: 'Save changes' }).click()
			await page.getByText('2 saved.', { exact: true }).waitFor()
			await page.getByText('Select records to change them.').waitFor()
			assert.equal(await column(page, 4), ['false', 'false', 'true'])
			assert.equal(sent, [
				'[{"hall":"a,b","number":"9007199254740992","isFree":false},{"hall":"a,b","number":"9007199254740993","isFree":false}]',
			])
		}),
	)
})
