/** Related records in a real browser: names in place of keys, lists below a record, ties, and what others may not see. */
import type { Browser, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import type { Server } from '../../lib/index.ts'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { column, focused, REFUSED, useToken, type Visit, visit } from './garden.ts'
import { HOSTILE, LIBRARIAN, library } from './library.ts'

/** The section of a related list. */
function below(page: Page, name: string) {
	return page.getByRole('region', { name, exact: true })
}

describe('explorer: related records in the page', (test) => {
	const browserTest = inChromium(test, 'the explorer')
	let browser: Browser | undefined

	test.after(() => browser?.close())

	/** A page of a server of its own, because tests change its records. */
	async function on(
		seen: Visit | string,
		use: (page: Page) => Promise<void>,
		server: Server = library(),
	): Promise<void> {
		browser ??= await launch()
		try {
			const { url } = await server.listen()
			await visit(browser, url, typeof seen === 'string' ? { path: seen } : seen, use)
		} finally {
			await server.close()
		}
	}

	browserTest('a list names what its keys lead to, with one more request', () =>
		on('/v2/articles', async (page) => {
			const asked: string[] = []
			page.on('request', (request) => asked.push(decodeURIComponent(new URL(request.url()).search)))
			await page.reload()
			await page.getByRole('link', { name: 'Ada' }).waitFor()
			assert.equal(asked, [
				'',
				'?fields=authorId,author.id,author.name,room,place,shelf.room,shelf.place,shelf.title',
			])
			assert.equal(await column(page, 3), ['Ada1', '3', `${HOSTILE}2`])
			// The caller doesn't see the second author, and may not see editors.
			assert.is(await page.getByRole('cell', { name: '3', exact: true }).getByRole('link').count(), 0)
			assert.equal(await column(page, 4), ['2', 'null', '1'])
			assert.equal(await column(page, 6), ['Poemsa,b', 'null', 'Lettersa,b'])
			await page.getByRole('group', { name: 'View' }).getByRole('button', { name: 'JSON' }).click()
			assert.match((await page.getByRole('region', { name: 'JSON' }).textContent()) ?? '', '"authorId": 1')
			assert.not.match((await page.getByRole('region', { name: 'JSON' }).textContent()) ?? '', 'Ada')
			await page.getByRole('button', { name: 'Table' }).click()
			await page.getByRole('link', { name: 'Letters' }).click()
			await page.waitForURL(/\/shelves\/2,a%2Cb$/)
			await page.locator('dd').getByText('Letters').waitFor()
			assert.is(asked.length, 3)
		}),
	)

	browserTest('names are asked for the same records, on each page of a list', () =>
		on('/v2/articles?sort=-id&limit=1&title[contains]=r&count=exact', async (page) => {
			await page.getByRole('link', { name: HOSTILE }).waitFor()
			const asked = page.waitForRequest(/fields=/)
			await page.getByRole('link', { name: 'Next →' }).click()
			const { searchParams } = new URL((await asked).url())
			assert.equal([...searchParams.keys()], ['sort', 'limit', 'title[contains]', 'cursor', 'fields'])
			assert.equal(await column(page, 2), ['Numbers'])
		}),
	)

	browserTest('a record names them too, and its links lead there', () =>
		on('/v2/articles/1', async (page) => {
			await page.locator('dd').getByRole('link', { name: 'Poems' }).waitFor()
			await page.locator('dd').getByRole('link', { name: 'Ada' }).click()
			await page.waitForURL(/\/v2\/authors\/1$/)
			await below(page, 'written').getByRole('cell', { name: 'Engines' }).waitFor()
			// The nearest mount's, and of articles without the key back.
			assert.equal(await below(page, 'written').getByRole('columnheader').allTextContents(), [
				...['id', 'title', 'editorId', 'room', 'place'],
			])
		}),
	)

	browserTest('a record leads to what refers to it, too', () =>
		on('/v2/authors/1', async (page) => {
			const profile = page.locator('dd').getByRole('link', { name: 'Notes on engines' })
			await profile.waitFor()
			await page.getByRole('group', { name: 'View' }).getByRole('button', { name: 'JSON' }).click()
			assert.not.match((await page.getByRole('region', { name: 'JSON' }).textContent()) ?? '', 'engines')
			await page.getByRole('button', { name: 'Fields' }).click()
			await profile.click()
			await page.waitForURL(/\/v2\/authors\/1\/profile$/)
			await page.evaluate(
				"history.pushState(null, '', '/v2/authors/2'); dispatchEvent(new PopStateEvent('popstate'))",
			)
			await page.locator('dd').getByText('null').waitFor()
		}),
	)

	browserTest('who may, sees the names of what is closed to others', () =>
		on('/v2/articles/1', async (page) => {
			await page.locator('dd').getByRole('link', { name: 'Ada' }).waitFor()
			assert.is(await page.locator('dd').getByRole('link', { name: HOSTILE }).count(), 0)
			assert.is(await below(page, 'notes').count(), 0)
			await useToken(page, LIBRARIAN)
			await page.locator('dd').getByRole('link', { name: HOSTILE }).waitFor()
			await below(page, 'notes').getByRole('cell', { name: 'MARKER' }).waitFor()
		}),
	)

	browserTest('if names can’t be had, the keys are there', () =>
		on({ path: '/shelves', allowed: REFUSED }, async (page) => {
			await page.route(/fields=/, (route) => route.fulfill({ status: 429, body: 'no' }))
			await page.evaluate(
				"history.pushState(null, '', '/v2/articles'); dispatchEvent(new PopStateEvent('popstate'))",
			)
			await page.getByRole('link', { name: '2', exact: true }).first().waitFor()
			assert.equal(await column(page, 3), ['1', '3', '2'])
			await page.getByRole('row', { name: 'Engines' }).getByRole('link', { name: '1' }).last().click()
			await page.waitForURL(/\/v2\/authors\/1$/)
		}),
	)

	browserTest('a list below a record has pages of its own', () =>
		on('/v2/articles/1', async (page) => {
			const comments = below(page, 'comments')
			const texts = () => comments.locator('tbody tr > :nth-child(2)').allTextContents()
			await comments.getByText('1–5 of 12').waitFor()
			assert.equal((await texts())[0], 'Comment 1')
			await comments.getByRole('link', { name: 'Ada' }).first().waitFor()
			await comments.getByRole('button', { name: 'Next →' }).press('Enter')
			await comments.getByText('6–10 of 12').waitFor()
			assert.is(await focused(page), 'next comments')
			assert.is(await page.getByRole('status').first().textContent(), 'comments: 6–10 of 12')
			await comments.getByRole('button', { name: 'Next →' }).press('Enter')
			await comments.getByText('11–12 of 12').waitFor()
			// The button that had the focus is gone.
			assert.is(await focused(page), 'previous comments')
			assert.equal(await texts(), ['Comment 11', 'Comment 12'])
			await page.getByRole('group', { name: 'View' }).getByRole('button', { name: 'JSON' }).click()
			await comments.getByText('11–12 of 12').waitFor()
			await comments.getByRole('button', { name: '← Previous' }).click()
			await comments.getByText('6–10 of 12').waitFor()
			assert.is((await texts())[0], 'Comment 6')
			await comments.getByRole('link', { name: '7', exact: true }).click()
			await page.waitForURL(/\/v2\/comments\/7$/)
			await page.goBack()
			await comments.getByRole('link', { name: 'All comments' }).click()
			await page.waitForURL(/\/v2\/articles\/1\/comments$/)
			await page.getByRole('button', { name: 'Table' }).click()
			await page.getByRole('rowheader', { name: '12', exact: true }).getByRole('link').click()
			await page.waitForURL(/\/v2\/comments\/12$/)
		}),
	)

	browserTest('without an envelope, too', () =>
		on(
			'/v2/articles/1',
			async (page) => {
				await page.locator('dd').getByRole('link', { name: 'Ada' }).waitFor()
				const comments = below(page, 'comments')
				await comments.getByText('1–5 of 12').waitFor()
				await comments.getByRole('button', { name: 'Next →' }).click()
				await comments.getByRole('cell', { name: 'Comment 6' }).waitFor()
				await comments.getByText('6–10 of 12').waitFor()
			},
			library(false),
		),
	)

	browserTest('a key that is a foreign key leads to its own record, and by name to the other', () =>
		on('/ties', async (page) => {
			const row = page.getByRole('row', { name: 'herb' })
			await row.getByRole('link', { name: 'Engines' }).waitFor()
			assert.equal(
				await row.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
				['/ties/1,1', '/v2/articles/1', '/ties/1,1', '/tags/1'],
			)
			await row.getByRole('link', { name: 'herb' }).click()
			await page.waitForURL(/\/tags\/1$/)
		}),
	)

	browserTest('an empty list and an error are told in words', () =>
		on({ path: '/v2/articles', allowed: REFUSED }, async (page) => {
			let isBroken = true
			await page.route(/\/tags\?/, (route) =>
				isBroken
					? route.fulfill({ status: 403, contentType: 'application/json', body: '{"error":"Not now"}' })
					: route.continue(),
			)
			await page.getByRole('link', { name: '2', exact: true }).click()
			await below(page, 'comments').getByText('No comments.').waitFor()
			await below(page, 'tags').getByText('tags can’t be shown.').waitFor()
			await below(page, 'tags').getByText('Not now (403)').waitFor()
			isBroken = false
			await below(page, 'tags').getByRole('button', { name: 'Try again' }).press('Enter')
			await below(page, 'tags').getByText('No tags.').waitFor()
			assert.is(await focused(page), 'related-tags')
		}),
	)

	browserTest('a record is created below another', () =>
		on({ path: '/v2/articles/2', allowed: REFUSED }, async (page) => {
			await below(page, 'comments').getByText('No comments.').waitFor()
			assert.is(await page.getByText('Add to the comments').count(), 0)
			await useToken(page, LIBRARIAN)
			const comments = below(page, 'comments')
			await comments.getByText('Add to the comments').click()
			// The URL sets the article.
			assert.equal(await comments.locator('.field-head label:first-child').allTextContents(), [
				'text *',
				'authorId',
			])
			const text = comments.getByRole('textbox', { name: 'text' })
			await text.fill('No')
			await comments.getByRole('button', { name: 'Create' }).click()
			await comments.locator('[aria-invalid=true]').waitFor()
			await text.fill('Not bad')
			await comments.getByRole('button', { name: 'Create' }).click()
			await page.getByText('Created.').waitFor()
			await comments.getByRole('cell', { name: 'Not bad' }).waitFor()
			await comments.getByText('1 record', { exact: true }).waitFor()
			assert.is(await focused(page), 'made')
			assert.is(new URL(page.url()).pathname, '/v2/articles/2')
			await page.keyboard.press('Enter')
			await page.waitForURL(/\/v2\/comments\/13$/)
		}),
	)

	browserTest('records are tied and untied with the keyboard', () =>
		on({ path: '/v2/articles/1', allowed: REFUSED }, async (page) => {
			await below(page, 'tags').getByRole('cell', { name: 'herb' }).waitFor()
			assert.is(await page.getByRole('button', { name: 'Untie herb' }).count(), 0)
			await useToken(page, LIBRARIAN)
			const tags = below(page, 'tags')
			const names = () => tags.locator('tbody tr > :nth-child(2)').allTextContents()
			const input = tags.getByRole('combobox', { name: 'Tie one of the tags' })
			await input.focus()
			await page.keyboard.type('TE')
			await page.getByRole('option', { name: 'tea' }).waitFor()
			await page.keyboard.press('ArrowDown')
			await page.keyboard.press('Enter')
			assert.is(await input.inputValue(), 'tea')
			await page.keyboard.press('Enter')
			await tags.getByRole('cell', { name: 'tea', exact: true }).waitFor()
			assert.is(await page.getByRole('status').first().textContent(), 'Tied: tea')
			assert.is(await input.inputValue(), '')
			// A bare key.
			await page.keyboard.type('3')
			await page.keyboard.press('Enter')
			await tags.getByRole('cell', { name: HOSTILE, exact: true }).waitFor()
			await page.keyboard.type('99')
			await page.keyboard.press('Enter')
			await tags.getByText('Not Found (404)').waitFor()
			await tags.getByRole('button', { name: 'Untie tea' }).press('Enter')
			await tags.getByRole('cell', { name: 'tea', exact: true }).waitFor({ state: 'detached' })
			assert.is(await page.getByRole('status').first().textContent(), 'Untied: tea')
			assert.is(await focused(page), 'related-tags')
			assert.equal(await names(), ['herb', HOSTILE])
		}),
	)

	browserTest('related records are included in a list, as links by name', () =>
		on('/v2/articles', async (page) => {
			await page.getByRole('button', { name: 'comments', exact: true }).press('Enter')
			await page.getByRole('columnheader', { name: 'comments' }).waitFor()
			assert.is(await focused(page), 'include comments')
			await page.getByRole('button', { name: 'author', exact: true }).click()
			await page.getByRole('columnheader', { name: 'author', exact: true }).waitFor()
			assert.is(new URL(page.url()).search, '?include=comments%2Cauthor')
			assert.equal(await column(page, 7), ['Comment 1Comment 2Comment 3…', '', ''])
			assert.equal(await column(page, 8), ['Ada', 'null', HOSTILE])
			await page.getByRole('button', { name: 'comments', exact: true, pressed: true }).click()
			await page.getByRole('columnheader', { name: 'comments' }).waitFor({ state: 'detached' })
			await page.getByRole('row', { name: 'Engines' }).getByRole('link', { name: 'Ada' }).last().click()
			await page.waitForURL(/\/v2\/authors\/1$/)
		}),
	)
})
