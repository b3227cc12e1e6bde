/** Choices of related records in forms, in a real browser: found by typing, with the keyboard, and read out. */
import type { Browser, Locator, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { until } from '../helpers/listening.ts'
import { findings, tabTo } from './axe.ts'
import { focused, REFUSED, useToken, type Visit, visit } from './garden.ts'
import { HOSTILE, LIBRARIAN, library } from './library.ts'

/** The options of the list that is open. */
function options(page: Page): Promise<string[]> {
	return page.locator('li[role=option]').allTextContents()
}

/** Waits until an input shows a text. */
async function shows(input: Locator, text: string): Promise<void> {
	await until(async () => (await input.inputValue()) === text, text)
}

/** The bodies of the page's own requests with a method. */
function bodies(page: Page, method: string): (string | null)[] {
	const sent: (string | null)[] = []
	page.on('request', (request) => {
		if (request.method() === method) sent.push(request.postData())
	})
	return sent
}

describe('explorer: choices of related records', (test) => {
	const browserTest = inChromium(test, 'the explorer')
	let browser: Browser | undefined

	test.after(() => browser?.close())

	async function on(seen: Visit | string, use: (page: Page) => Promise<void>): Promise<void> {
		browser ??= await launch()
		const server = library()
		try {
			const { url } = await server.listen()
			await visit(browser, url, typeof seen === 'string' ? { path: seen } : seen, use)
		} finally {
			await server.close()
		}
	}

	browserTest('a record is created with the keyboard only', () =>
		on('/v2/articles', async (page) => {
			const sent = bodies(page, 'POST')
			await tabTo(page, 'operation POST')
			await page.keyboard.press('Enter')
			await tabTo(page, 'post-title')
			await page.keyboard.type('New')
			await tabTo(page, 'post-authorId')
			const input = page.getByRole('combobox', { name: 'authorId' })
			assert.is(await input.getAttribute('aria-expanded'), 'false')
			await page.keyboard.type('writer 2')
			await page.getByRole('option', { name: 'Writer 20' }).waitFor()
			assert.equal(await options(page), [
				'Writer 1212',
				'Writer 2020',
				'Writer 2121',
				'Writer 2222',
				'Writer 2323',
			])
			assert.is(await page.locator('.choice').getByText('5 found').count(), 1)
			assert.is(await input.getAttribute('aria-activedescendant'), null)
			await page.keyboard.press('ArrowDown')
			await page.keyboard.press('ArrowDown')
			const active = await input.getAttribute('aria-activedescendant')
			assert.is(await page.locator(`[id="${active}"]`).textContent(), 'Writer 2020')
			await page.keyboard.press('ArrowUp')
			await page.keyboard.press('ArrowUp')
			await page.keyboard.press('ArrowUp')
			assert.is(await page.locator('[role=option][aria-selected=true]').textContent(), 'Writer 2323')
			await page.keyboard.press('Enter')
			assert.is(await input.inputValue(), 'Writer 23')
			assert.is(await input.getAttribute('aria-expanded'), 'false')
			await page.getByText('authorId 23').waitFor()
			assert.equal(sent, [])
			await page.keyboard.press('Enter')
			await page.getByText('Created.').waitFor()
			assert.equal(sent, ['{"title":"New","authorId":23}'])
		}),
	)

	browserTest('Escape closes the list and keeps the text; an empty input shows the first records', () =>
		on('/v2/articles', async (page) => {
			await page.getByText('Add to the articles').click()
			const input = page.getByRole('combobox', { name: 'authorId' })
			await input.press('ArrowDown')
			await page.getByRole('option', { name: 'Ada' }).waitFor()
			assert.is((await options(page)).length, 10)
			await input.press('Escape')
			await page.getByRole('listbox').waitFor({ state: 'hidden' })
			await input.pressSequentially('ad')
			await page.getByRole('option', { name: 'Ada' }).waitFor()
			await input.press('Escape')
			assert.is(await input.inputValue(), 'ad')
			await input.pressSequentially('zz')
			await page.getByText('None found').waitFor()
			await input.fill('')
			await page.getByRole('option', { name: HOSTILE }).click()
			assert.is(await input.inputValue(), HOSTILE)
			await page.getByText('authorId 2', { exact: true }).waitFor()
			await input.press('Tab')
			assert.equal(await options(page), [])
		}),
	)

	browserTest('an older answer does not replace a newer one', () =>
		on('/v2/articles', async (page) => {
			let release = () => {}
			const held = new Promise<void>((resolve) => {
				release = resolve
			})
			await page.route(/search=Ada/, async (route) => {
				await held
				await route.continue()
			})
			await page.getByText('Add to the articles').click()
			const input = page.getByRole('combobox', { name: 'authorId' })
			const old = page.waitForRequest(/search=Ada/)
			await input.fill('Ada')
			await old
			await input.fill('Writer 18')
			await page.getByRole('option', { name: 'Writer 18' }).waitFor()
			const late = page.waitForResponse(/search=Ada/)
			release()
			await (await late).finished()
			await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
			assert.equal(await options(page), ['Writer 1818'])
		}),
	)

	browserTest('a change shows the name, and sends only what was chosen; the key can be typed, and null', () =>
		on({ path: '/v2/articles/1', allowed: REFUSED }, async (page) => {
			await useToken(page, LIBRARIAN)
			const sent = bodies(page, 'PATCH')
			const form = page.locator('details.operation[open] form')
			const save = async (times: number) => {
				await form.getByRole('button', { name: 'Save changes' }).click()
				await page.locator('form[aria-busy]').waitFor({ state: 'detached' })
				assert.is(sent.length, times)
			}
			const author = form.getByRole('combobox', { name: 'authorId' })
			await shows(author, 'Ada')
			assert.is(await form.getByRole('combobox', { name: 'editorId' }).inputValue(), HOSTILE)
			await save(1)
			await author.fill('writer 4')
			await page.getByRole('option', { name: 'Writer 4' }).click()
			// What was chosen is kept when the page is shown anew.
			await page.getByRole('group', { name: 'View' }).getByRole('button', { name: 'JSON' }).click()
			assert.is(await author.inputValue(), 'Writer 4')
			await save(2)
			await shows(author, 'Writer 4')
			await author.fill('2')
			await author.press('Tab') // closes the list, which may cover what is below
			await form.getByLabel('null for editorId').check()
			await save(3)
			assert.equal(sent, ['{}', '{"authorId":4}', '{"authorId":2,"editorId":null}'])
			await shows(author, HOSTILE)
			await author.fill('Ada')
			await author.press('Tab')
			await form.getByRole('button', { name: 'Save changes' }).click()
			await form.locator('#patch-authorId[aria-invalid=true]').waitFor()
			assert.is(await author.inputValue(), 'Ada')
		}),
	)

	browserTest('a record with a key of two fields fills both', () =>
		on('/v2/articles/2', async (page) => {
			const sent = bodies(page, 'PATCH')
			const place = page.getByRole('combobox', { name: 'place' })
			await place.pressSequentially('LETT')
			await page.getByRole('option', { name: 'Letters' }).waitFor()
			await place.press('ArrowDown')
			await place.press('Enter')
			assert.is(await page.getByRole('textbox', { name: 'room' }).inputValue(), '2')
			await page.getByRole('button', { name: 'Save changes' }).click()
			await page.getByText('Saved.').waitFor()
			assert.equal(sent, ['{"room":2,"place":"a,b"}'])
			await page.locator('dd').getByRole('link', { name: 'Letters' }).waitFor()
			await shows(place, 'Letters')
			// Of another room, the place has another name.
			await page.getByRole('textbox', { name: 'room' }).fill('1')
			assert.is(await place.inputValue(), 'a,b')
			await page.getByRole('button', { name: 'Save changes' }).click()
			await page.locator('dd').getByRole('link', { name: 'Poems' }).waitFor()
			assert.is(sent.at(-1), '{"room":1}')
		}),
	)

	browserTest('a search that fails is told, and the key can still be sent', () =>
		on({ path: '/v2/articles', allowed: REFUSED }, async (page) => {
			const sent = bodies(page, 'POST')
			await page.route(/search=/, (route) => route.fulfill({ status: 429, body: 'no' }))
			await page.getByText('Add to the articles').click()
			await page.getByRole('textbox', { name: 'title' }).fill('New')
			const input = page.getByRole('combobox', { name: 'authorId' })
			await input.fill('1')
			await page.locator('.choice').getByText('(429)').waitFor()
			await input.press('Enter')
			await page.getByText('Created.').waitFor()
			assert.equal(sent, ['{"title":"New","authorId":1}'])
		}),
	)

	const looks: readonly { width: number; colorScheme: 'light' | 'dark' }[] = [
		{ width: 1_280, colorScheme: 'light' },
		{ width: 1_280, colorScheme: 'dark' },
		{ width: 390, colorScheme: 'light' },
		{ width: 390, colorScheme: 'dark' },
	]
	for (const { width, colorScheme } of looks)
		browserTest(`axe-core finds nothing serious in lists, ties and choices: ${width}, ${colorScheme}`, () =>
			on({ path: '/v2/articles?include=comments', width, colorScheme, allowed: REFUSED }, async (page) => {
				const found: string[] = []
				const look = async (where: string) => {
					found.push(...(await findings(page)).map((finding) => `${where}: ${finding}`))
					const wide = await page.evaluate('document.documentElement.scrollWidth')
					if (wide !== width) found.push(`${where} is ${wide} wide`)
				}
				await page.getByRole('link', { name: 'Ada' }).waitFor()
				await look('a list with names')
				await page.getByRole('rowheader', { name: '1', exact: true }).getByRole('link').click()
				await useToken(page, LIBRARIAN)
				await page.getByText('1–5 of 12').waitFor()
				await page.getByRole('cell', { name: 'herb', exact: true }).waitFor()
				await page.getByText('Add to the comments').click()
				const tie = page.getByRole('combobox', { name: 'Tie one of the tags' })
				await tie.fill('99')
				await tie.press('Enter')
				await page.getByText('Not Found (404)').waitFor()
				await look('a record with its lists')
				const author = page.locator('#patch-authorId')
				await author.press('ArrowDown')
				await page.getByRole('option', { name: 'Ada' }).waitFor()
				await author.press('ArrowDown')
				await look('an open choice')
				assert.is(await focused(page), 'patch-authorId')
				assert.equal(found, [])
			}),
		)
})
