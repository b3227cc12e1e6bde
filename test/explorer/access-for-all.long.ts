/** The page with a keyboard, a screen reader, a phone and in dark mode: axe-core, and navigation by keys only. */
import type { Browser, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { findings, tabTo } from './axe.ts'
import { focused, type Garden, garden, REFUSED, TOKEN, type Visit, visit } from './garden.ts'

const LIST = '/garden/articles'

describe('explorer: accessibility', (test) => {
	const browserTest = inChromium(test, 'the explorer')
	let browser: Browser | undefined
	let site: Garden | undefined

	test.after(async () => {
		await browser?.close()
		await site?.server.close()
	})

	async function on(seen: Visit, use: (page: Page) => Promise<void>): Promise<void> {
		browser ??= await launch()
		site ??= await garden()
		await visit(browser, site.url, seen, use)
	}

	const tourists: readonly { width: number; colorScheme: 'light' | 'dark' }[] = [
		{ width: 1_280, colorScheme: 'light' },
		{ width: 1_280, colorScheme: 'dark' },
		{ width: 390, colorScheme: 'light' },
		{ width: 390, colorScheme: 'dark' },
		{ width: 320, colorScheme: 'light' },
	]
	for (const { width, colorScheme } of tourists) {
		browserTest(
			`${width < 390 ? '' : 'axe-core finds nothing, and '}no page scrolls sideways: ${width}, ${colorScheme}`,
			() =>
				on({ path: '/', width, colorScheme, allowed: REFUSED }, async (page) => {
					const found: string[] = []
					const look = async (where: string) => {
						// At the smallest width only overflow is tested.
						const violations = width < 390 ? [] : await findings(page)
						found.push(...violations.map((finding) => `${where}: ${finding}`))
						const wide = await page.evaluate('document.documentElement.scrollWidth')
						if (wide !== width) found.push(`${where} is ${wide} wide`)
						const lines =
							'new Set([...document.querySelectorAll("#top li")].map((one) => one.getBoundingClientRect().top)).size'
						if ((await page.evaluate(lines)) !== 1) found.push(`${where} has its crumbs in several lines`)
					}
					await look('the map')
					await page.getByRole('button', { name: 'Credentials' }).click()
					await look('the box for credentials')
					await page.getByLabel('Token').fill(TOKEN)
					await page.getByRole('button', { name: 'Use token' }).click()
					await page.getByText('as ruth').waitFor()
					await page.getByRole('link', { name: LIST, exact: true }).click()
					await page.getByText('Add to the articles').click()
					await page.getByRole('button', { name: 'Create' }).click()
					await page.locator('[aria-invalid=true]').first().waitFor()
					await look('a list, with a form that was refused')
					await page.getByRole('rowheader', { name: '1', exact: true }).getByRole('link').click()
					await page.getByRole('button', { name: 'Save changes' }).waitFor()
					await page.getByText('Delete one of the articles').click()
					await look('a record with its forms')
					for (const view of width < 1_280 ? [] : ['JSON', 'Headers']) {
						await page.getByRole('button', { name: view, exact: true }).first().click()
						await look(view)
					}
					await page.evaluate(
						"history.pushState(null, '', '/garden/articles/99'); dispatchEvent(new PopStateEvent('popstate'))",
					)
					await page.getByText('404', { exact: true }).waitFor()
					await page.getByRole('button', { name: 'Error' }).click()
					await look('an error')
					assert.equal(found, [])
				}),
		)
	}

	browserTest('a record is found, changed and left with the keyboard only', () =>
		on({ path: '/', allowed: REFUSED }, async (page) => {
			await page.keyboard.press('Tab')
			assert.is(await focused(page), 'Skip to the content')
			await page.keyboard.press('Enter')
			assert.is(await focused(page), 'main')
			await page.keyboard.press('Shift+Tab')
			assert.is(await focused(page), 'credentials')
			await page.keyboard.press('Enter')
			await page.keyboard.type(TOKEN)
			await page.keyboard.press('Enter')
			await page.getByText('as ruth').waitFor()
			assert.is(await focused(page), 'credentials')
			await tabTo(page, LIST)
			await page.keyboard.press('Enter')
			await page.getByRole('table').waitFor()
			assert.is(await focused(page), `GET${LIST}`)
			await tabTo(page, 'search')
			await page.keyboard.type('Title 07')
			await page.keyboard.press('Enter')
			await page.getByText('1 record', { exact: true }).waitFor()
			await tabTo(page, '7')
			await page.keyboard.press('Enter')
			await page.getByRole('button', { name: 'Save changes' }).waitFor()
			await tabTo(page, 'patch-title')
			await page.keyboard.press('End')
			await page.keyboard.type(', changed')
			await page.keyboard.press('Enter')
			await page.getByText('Saved.').waitFor()
			await page.locator('dd').getByText('Title 07, changed').waitFor()
			await tabTo(page, 'operation DELETE')
			await page.keyboard.press('Enter')
			await page.keyboard.press('Tab')
			await page.keyboard.press('Enter')
			assert.is(await focused(page), 'Cancel')
			await page.keyboard.press('Escape')
			assert.is(await focused(page), 'delete')
		}),
	)

	browserTest('the focus is visible, and nothing moves with reduced motion', () =>
		on({ path: LIST }, async (page) => {
			await page.keyboard.press('Tab')
			await page.keyboard.press('Tab')
			const style = 'getComputedStyle(document.activeElement)'
			assert.is(await page.evaluate(`${style}.outlineStyle + ${style}.outlineWidth`), 'solid2px')
			await page.emulateMedia({ reducedMotion: 'reduce' })
			const moving =
				'[...document.querySelectorAll("*")].filter((one) => getComputedStyle(one).transitionProperty !== "none").length'
			assert.is(await page.evaluate(moving), 0)
		}),
	)

	browserTest('without scripts the response and the map can be read', async () => {
		browser ??= await launch()
		site ??= await garden()
		const context = await browser.newContext({ javaScriptEnabled: false })
		try {
			const page = await context.newPage()
			await page.goto(site.url + LIST)
			assert.match((await page.locator('main pre').first().textContent()) ?? '', '"title": "Title 02"')
			await page.getByRole('link', { name: 'API' }).click()
			await page.getByRole('link', { name: '/garden/markup' }).click()
			assert.match((await page.locator('main pre').first().textContent()) ?? '', '<script>document.title')
		} finally {
			await context.close()
		}
	})
})
