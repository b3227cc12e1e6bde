/** The page as people use it, in a real browser. */
import type { Browser, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import {
	column,
	focused,
	type Garden,
	garden,
	IMAGE,
	MARKUP,
	REFUSED,
	SECRET,
	TOKEN,
	useToken,
	type Visit,
	visit,
} from './garden.ts'

const LIST = '/garden/articles'

describe('explorer: the page', (test) => {
	const browserTest = inChromium(test, 'the explorer')
	let browser: Browser | undefined
	let site: Garden | undefined

	test.after(async () => {
		await browser?.close()
		await site?.server.close()
	})

	async function on(seen: Visit | string, use: (page: Page) => Promise<void>): Promise<void> {
		browser ??= await launch()
		site ??= await garden()
		await visit(browser, site.url, typeof seen === 'string' ? { path: seen } : seen, use)
	}

	/** Sends requests to the server directly, not through the page. */
	async function aside(method: string, path: string, body?: object): Promise<unknown> {
		const headers = { Authorization: `Bearer ${TOKEN}` }
		const reply = await site?.server.inject({
			method,
			url: path,
			headers,
			...(body === undefined ? {} : { body }),
		})
		return reply?.json()
	}

	browserTest('the map leads to handlers, and a path is filled in and opened', () =>
		on('/', async (page) => {
			assert.is(await page.getByRole('heading', { level: 1 }).textContent(), 'All routes')
			await page.getByLabel('id of /garden/articles/{id}').fill('2')
			await page.getByRole('button', { name: 'Open /garden/articles/{id}' }).click()
			await page.getByRole('heading', { level: 1, name: '/garden/articles/2' }).waitFor()
			assert.is(new URL(page.url()).pathname, '/garden/articles/2')
			await page.getByRole('link', { name: 'API', exact: true }).click()
			await page.getByRole('heading', { name: 'All routes' }).waitFor()
			await page.getByRole('link', { name: LIST, exact: true }).click()
			await page.getByRole('table').waitFor()
			assert.is((await column(page, 2))[0], 'Title 01')
			await page.goBack()
			await page.getByRole('heading', { name: 'All routes' }).waitFor()
			await page.goForward()
			await page.getByRole('table').waitFor()
		}),
	)

	browserTest('a list is sorted by its headings, and the focus stays', () =>
		on(LIST, async (page) => {
			const title = page.getByRole('columnheader', { name: 'title' })
			assert.is(await title.getAttribute('aria-sort'), null)
			await title.getByRole('button').click()
			await page.locator('th[aria-sort=ascending]').waitFor()
			await title.getByRole('button').press('Enter')
			await page.locator('th[aria-sort=descending]').waitFor()
			assert.equal((await column(page, 2)).slice(0, 2), ['Title 30', 'Title 29'])
			assert.is(await focused(page), 'sort title')
			assert.is(await page.getByRole('status').textContent(), 'Sorted by title, descending')
			assert.is(new URL(page.url()).search, '?sort=-title')
			await title.getByRole('button').press(' ')
			await page.locator('th[aria-sort]').waitFor({ state: 'detached' })
		}),
	)

	browserTest('a list is filtered, searched and counted, and Back restores it', () =>
		on(LIST, async (page) => {
			await page.getByLabel('Field').selectOption('rating')
			await page.getByLabel('Comparison').selectOption('gte')
			await page.getByLabel('Value').fill('3')
			await page.getByLabel('Value').press('Enter')
			await page.getByText('rating ≥ 3').waitFor()
			assert.is(new URL(page.url()).search, '?rating%5Bgte%5D=3')
			await page.getByRole('link', { name: 'Count all' }).click()
			await page.getByText('10 of 12 records').waitFor()
			await page.getByRole('searchbox').fill('Title 1')
			await page.getByRole('button', { name: 'Search' }).click()
			await page.getByText('4 of 4 records').waitFor()
			assert.equal(await column(page, 2), ['Title 10', 'Title 14', 'Title 15', 'Title 19'])
			await page.getByRole('button', { name: 'Remove rating ≥ 3' }).click()
			await page.getByText('10 of 12 records').waitFor()
			await page.goBack()
			await page.getByText('4 of 4 records').waitFor()
			assert.is(await page.getByRole('searchbox').inputValue(), 'Title 1')
			await page.getByRole('searchbox').fill('no such plant')
			await page.keyboard.press('Enter')
			await page.getByText('Nothing here.').waitFor()
		}),
	)

	browserTest('pages are turned back and forth, with a selectable length', () =>
		on(LIST, async (page) => {
			await page.getByRole('link', { name: 'Next →' }).click()
			await page.getByRole('cell', { name: 'Title 11' }).waitFor()
			// The focus stays, and a live region announces the change to screen readers.
			assert.is(await focused(page), 'next')
			assert.is(await page.getByRole('status').textContent(), 'Next page')
			await page.getByRole('link', { name: 'Next →' }).click()
			await page.getByRole('cell', { name: 'Title 21' }).waitFor()
			assert.is(await page.getByRole('link', { name: 'Next →' }).count(), 0)
			await page.getByRole('button', { name: '← Previous' }).click()
			await page.getByRole('cell', { name: 'Title 11' }).waitFor()
			await page.getByRole('link', { name: 'First page' }).click()
			await page.getByRole('cell', { name: 'Title 01' }).waitFor()
			await page.getByLabel('Per page').selectOption('25')
			await page.getByRole('cell', { name: 'Title 25' }).waitFor()
			assert.is((await column(page, 1)).length, 25)
		}),
	)

	browserTest('going back from a record restores the place in the list', () =>
		on(`${LIST}?limit=25`, async (page) => {
			await page.evaluate('scrollTo(0, 500)')
			const { y } = (await page.evaluate('({ y: scrollY })')) as { y: number } // as written
			assert.ok(y > 100)
			await page.getByRole('rowheader', { name: '15', exact: true }).getByRole('link').click()
			await page.getByRole('heading', { level: 1, name: `${LIST}/15` }).waitFor()
			assert.is(await page.evaluate('scrollY'), 0)
			await page.goBack()
			await page.getByRole('cell', { name: 'Title 25' }).waitFor()
			assert.is(await page.evaluate('scrollY'), y)
		}),
	)

	browserTest('a list and a record are shown as a table, as JSON, with their headers', () =>
		on(LIST, async (page) => {
			await page.getByRole('button', { name: 'JSON' }).click()
			assert.match(
				(await page.locator('pre.json').textContent()) ?? '',
				/^\{\n {2}"success": true,\n {2}"data": \[\n/,
			)
			assert.is(await focused(page), 'view json')
			await page.getByRole('button', { name: 'Headers' }).click()
			await page.getByText('application/json; charset=utf-8').waitFor()
			await page.locator('dd').getByRole('link', { name: '/garden/articles?cursor=' }).click()
			await page.getByRole('button', { name: 'Table' }).click()
			await page.getByRole('rowheader', { name: '11' }).getByRole('link').click()
			await page.getByRole('button', { name: 'Fields' }).waitFor()
			assert.is(await focused(page), 'GET/garden/articles/11')
		}),
	)

	browserTest('links in values lead to the web or to this server, and never run scripts', () =>
		on('/garden/articles/2', async (page) => {
			const link = page.getByRole('link', { name: 'https://example.org/a?b=c' })
			assert.is(await link.getAttribute('rel'), 'noreferrer')
			await page.goto(page.url().replace(/2$/, '1'))
			await page.locator('dd').getByText('javascript:alert(1)').waitFor()
			assert.is(await page.locator('a[href^="javascript" i]').count(), 0)
			await page.goto(`${new URL(page.url()).origin}/garden/markup`)
			await page.getByRole('link', { name: '/garden/articles/1' }).click()
			await page.getByRole('heading', { level: 1, name: '/garden/articles/1' }).waitFor()
		}),
	)

	browserTest('allowed forms are shown; a record is created, and linked', () =>
		on({ path: LIST, allowed: REFUSED }, async (page) => {
			assert.is(await page.locator('main form.operation, details.operation').count(), 0)
			await page.getByText('POST needs credentials.').waitFor()
			await useToken(page)
			await page.getByText('Add to the articles').click()
			const form = page.locator('details.operation form')
			await form.getByRole('textbox', { name: 'title', exact: true }).fill('Ab')
			await form.getByLabel('rating', { exact: true }).fill('many')
			await form.getByRole('button', { name: 'Create' }).click()
			await form.locator('[aria-invalid=true]').first().waitFor()
			const title = form.getByRole('textbox', { name: 'title', exact: true })
			assert.is(await title.getAttribute('aria-invalid'), 'true')
			assert.is(await focused(page), 'post-title')
			const described = (await title.getAttribute('aria-describedby'))?.split(' ') ?? []
			assert.match((await page.locator(`#${described.at(-1)}`).textContent()) ?? '', /at least 3/)
			assert.is(await form.getByLabel('rating', { exact: true }).getAttribute('aria-invalid'), 'true')
			assert.is(
				await form.getByRole('textbox', { name: 'body', exact: true }).getAttribute('aria-invalid'),
				null,
			)
			await title.fill(`Mint ${MARKUP}`)
			await form.getByLabel('rating', { exact: true }).fill('5')
			await form.getByLabel('state').selectOption('public')
			await form.getByLabel('featured').selectOption('true')
			await form.getByLabel('tags').fill('["x"]')
			await title.press('Enter')
			await page.getByText('Created.').waitFor()
			assert.is(await focused(page), 'made')
			await page.keyboard.press('Enter')
			await page.getByRole('heading', { level: 1, name: '/garden/articles/31' }).waitFor()
			assert.equal(await aside('GET', '/garden/articles/31'), {
				success: true,
				data: {
					id: 31,
					title: `Mint ${MARKUP}`,
					body: null,
					state: 'public',
					rating: 5,
					link: null,
					featured: true,
					tags: ['x'],
				},
			})
		}),
	)

	browserTest('an update sends only changed fields; null can be selected', () =>
		on('/garden/articles/8', async (page) => {
			await useToken(page)
			const sent: (string | null)[] = []
			page.on('request', (request) => {
				if (request.method() === 'PATCH') sent.push(request.postData(), request.headers()['if-match'] ?? '')
			})
			const form = page.locator('details.operation[open] form')
			assert.is(await form.getByRole('textbox', { name: 'title', exact: true }).inputValue(), 'Title 08')
			await form.getByRole('textbox', { name: 'title', exact: true }).fill(IMAGE)
			await form.getByLabel('null for body').check()
			await form.getByRole('button', { name: 'Save changes' }).click()
			await page.getByText('Saved.').waitFor()
			assert.equal(sent, [JSON.stringify({ title: IMAGE, body: null }), '"1"'])
			await page.locator('dd').getByText(IMAGE).waitFor()
			assert.is(await page.locator('main img, main script').count(), 0)
			assert.is(await form.getByRole('textbox', { name: 'title', exact: true }).inputValue(), IMAGE)
		}),
	)

	browserTest('JSON can be edited instead of fields, and all digits are kept', () =>
		on({ path: '/garden/articles/9', allowed: REFUSED }, async (page) => {
			await useToken(page)
			const form = page.locator('details.operation[open] form')
			await form.getByRole('textbox', { name: 'title', exact: true }).fill('By fields')
			await form.getByRole('button', { name: 'JSON', exact: true }).click()
			assert.is(await form.getByLabel('JSON', { exact: true }).inputValue(), '{\n  "title": "By fields"\n}')
			await form.getByLabel('JSON', { exact: true }).fill('{"title": "By hand", "rating": 9007199254740993}')
			await form.getByRole('button', { name: 'Save changes' }).click()
			await form.getByRole('alert').getByText('rating').waitFor()
			await form.getByLabel('JSON', { exact: true }).fill('{"title": "By hand", "rating": 3}')
			await form.getByRole('button', { name: 'Save changes' }).click()
			await page.getByText('Saved.').waitFor()
			await page.locator('dd').getByText('By hand').waitFor()
		}),
	)

	browserTest('after a conflict the input is kept, and can be saved then', () =>
		on({ path: '/garden/articles/10', allowed: REFUSED }, async (page) => {
			await useToken(page)
			const form = page.locator('details.operation[open] form')
			await form.getByRole('textbox', { name: 'title', exact: true }).fill('Mine')
			await aside('PATCH', '/garden/articles/10', { title: 'Theirs', rating: 1 })
			await form.getByRole('button', { name: 'Save changes' }).click()
			await form.getByText('Somebody has changed this since you read it.').waitFor()
			assert.is(await focused(page), 'load current')
			await page.keyboard.press('Enter')
			await page.locator('dd').getByText('Theirs').waitFor()
			assert.is(await form.getByRole('textbox', { name: 'title', exact: true }).inputValue(), 'Mine')
			assert.is(await form.getByLabel('rating', { exact: true }).inputValue(), '1')
			await form.getByRole('button', { name: 'Save changes' }).click()
			await page.getByText('Saved.').waitFor()
			await page.locator('dd').getByText('Mine').waitFor()
		}),
	)

	browserTest('a deletion asks for confirmation; then the list is shown', () =>
		on('/garden/articles/12', async (page) => {
			await useToken(page)
			await page.getByText('Delete one of the articles').click()
			await page.getByRole('button', { name: 'Delete…' }).click()
			assert.is(await focused(page), 'Cancel')
			await page.keyboard.press('Escape')
			await page.getByRole('button', { name: 'Delete…' }).click()
			await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
			await page.getByText('Deleted.').waitFor()
			await page.getByRole('heading', { level: 1, name: LIST }).waitFor()
			const gone = (await aside('GET', '/garden/articles/12')) as { code?: string }
			assert.is(gone.code, 'not_found')
		}),
	)

	browserTest('a key signs each request, and is shown nowhere', () =>
		on({ path: '/garden/me', allowed: REFUSED }, async (page) => {
			await page.getByText('401', { exact: true }).waitFor()
			await page.getByRole('button', { name: 'Credentials' }).click()
			await page.getByLabel('Key id').fill('k1')
			await page.getByLabel('Secret').fill('c2hvcnQ=')
			await page.getByRole('button', { name: 'Use key' }).click()
			await page.getByText('The secret must have at least 32 bytes.').waitFor()
			assert.is(await page.evaluate('document.activeElement.type'), 'password')
			assert.is(await page.getByLabel('Secret').inputValue(), '')
			await page.getByLabel('Secret').fill(SECRET)
			await page.getByRole('button', { name: 'Use key' }).click()
			await page.getByText('as k1').waitFor()
			await page.locator('pre').getByText('"k1"').waitFor()
			assert.is(
				await page.locator('.curl code').textContent(),
				`curl '${new URL(page.url()).origin}/garden/me'`,
			)
			await page.getByText('A signature is valid for one request').waitFor()
			await page.getByRole('link', { name: 'API', exact: true }).click()
			await page.getByRole('link', { name: LIST, exact: true }).click()
			await page.getByText('Add to the articles').click()
			const form = page.locator('details.operation form')
			await form.getByRole('textbox', { name: 'title', exact: true }).fill('Signed')
			await form.getByRole('button', { name: 'Create' }).click()
			await page.getByText('Created.').waitFor()
			const everything = await page.evaluate(
				'JSON.stringify([document.documentElement.outerHTML, [...document.querySelectorAll("input")].map((one) => one.value), location.href, history.state, document.cookie, { ...localStorage }, { ...sessionStorage }, Object.keys(globalThis).map((key) => String(globalThis[key]))])',
			)
			assert.not.match(String(everything), SECRET.slice(0, 20))
			await page.goBack()
			await page.getByRole('heading', { name: 'All routes' }).waitFor()
			await page.getByText('as k1').waitFor()
			await page.reload()
			await page.getByRole('button', { name: 'Credentials' }).waitFor()
		}),
	)

	browserTest('a token is sent, omitted from curl lines, and forgotten on request', () =>
		on({ path: '/garden/me', allowed: REFUSED }, async (page) => {
			await useToken(page)
			assert.match(
				(await page.locator('.curl code').textContent()) ?? '',
				'-H "Authorization: Bearer $TOKEN"',
			)
			assert.not.match(await page.content(), TOKEN)
			await page.getByRole('link', { name: 'API', exact: true }).click()
			await page.getByRole('link', { name: '/garden/picture' }).click()
			await page.getByText('/garden/picture answered text/html, which isn’t shown here.').waitFor()
			await page.goBack()
			await page.getByRole('heading', { level: 1, name: '/garden/me' }).waitFor()
			await page.getByRole('button', { name: 'Bearer token' }).click()
			await page.getByRole('button', { name: 'Forget them' }).click()
			await page.getByText('401', { exact: true }).waitFor()
		}),
	)

	browserTest('the page says who requests are sent as, and reports refusals', () =>
		on({ path: '/garden/articles/2', allowed: REFUSED }, async (page) => {
			const status = page.getByRole('status')
			await page.getByText('PATCH PUT DELETE need credentials.').waitFor()
			await page.getByRole('button', { name: 'Credentials' }).click()
			await page.getByLabel('Token').fill('wrong')
			await page.getByRole('button', { name: 'Use token' }).click()
			await status.getByText('These credentials were refused.').waitFor()
			await page.getByText('The credentials that were sent aren’t enough: use others.').waitFor()
			await page.getByRole('button', { name: 'Bearer token' }).click()
			await page.getByLabel('Token').fill(TOKEN)
			await page.getByRole('button', { name: 'Use token' }).click()
			await status.getByText('Requests are sent with the token.').waitFor()
			await page.getByRole('button', { name: 'Bearer token' }).click()
			await page.getByRole('button', { name: 'Forget them' }).click()
			await status.getByText('Requests are sent without credentials.').waitFor()
		}),
	)

	browserTest('query parameters a method reads have inputs; the response is shown', () =>
		on({ path: '/garden/sum', allowed: REFUSED }, async (page) => {
			await page.getByText('422', { exact: true }).waitFor()
			// What was missing in the query can be given at once.
			await page.getByRole('textbox', { name: 'a', exact: true }).fill('2')
			await page.getByRole('textbox', { name: 'b', exact: true }).fill('3')
			await page.getByRole('button', { name: 'Ask' }).click()
			await page.locator('dd').getByText('5').waitFor()
			assert.is(new URL(page.url()).search, '?a=2&b=3')
			await page.goto(`${new URL(page.url()).origin}/garden/note`)
			await page.getByText('405', { exact: true }).waitFor()
			await page.getByText('post_note').click()
			await page.getByRole('textbox', { name: 'text', exact: true }).fill('say "hi"')
			await page.getByRole('button', { name: 'Create' }).click()
			await page.getByText('Done.').waitFor()
			await page.locator('.notice pre').getByText('"say \\"hi\\""').waitFor()
		}),
	)

	browserTest('stored markup stays text, wherever it is shown', () =>
		on({ path: `/garden/markup?x=${encodeURIComponent(IMAGE)}`, allowed: REFUSED }, async (page) => {
			for (const view of ['Fields', 'JSON', 'Headers']) {
				await page.getByRole('button', { name: view }).click()
				await page.locator('.answer').getByText('onerror').first().waitFor()
				assert.is(await page.locator('img, main script, iframe').count(), 0)
			}
			await page.goto(`${new URL(page.url()).origin}/garden/${encodeURIComponent(MARKUP)}`)
			await page.getByText('404', { exact: true }).waitFor()
			assert.is(await page.locator('img, main script, iframe').count(), 0)
		}),
	)

	browserTest('the browser would refuse any attempt to create markup from text', () =>
		on(
			{ path: '/garden/markup', allowed: /TrustedHTML|^policy: require-trusted-types-for$/ },
			async (page) => {
				const attempt =
					'(() => { try { document.body.innerHTML = "<b>"; return "made" } catch (error) { return error.name } })()'
				assert.is(await page.evaluate(attempt), 'TypeError')
			},
		),
	)

	browserTest('responses without an envelope are tables and records too; null can be selected', () =>
		on('/garden/herbs?count=exact', async (page) => {
			await page.getByText('2 of 3 records').waitFor()
			await page.getByRole('rowheader', { name: 'basil' }).getByRole('link').click()
			const form = page.locator('details.operation[open] form')
			await form.getByLabel('day', { exact: true }).waitFor()
			assert.is(await form.getByLabel('day', { exact: true }).inputValue(), '2026-11-20')
			assert.is(await form.getByLabel('hardy').inputValue(), 'null')
			await form.getByLabel('hardy').selectOption('true')
			await form.getByLabel('null for day').check()
			await form.getByRole('button', { name: 'Save changes' }).click()
			await page.getByText('Saved.').waitFor()
			const herb = { day: null, hardy: true, name: 'basil' }
			assert.equal(await aside('GET', '/garden/herbs/basil'), herb)
		}),
	)

	browserTest('curl lines can be copied, those of forms with their input', () =>
		on('/garden/herbs/mint', async (page) => {
			const origin = new URL(page.url()).origin
			await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
			const copied = () => page.evaluate('navigator.clipboard.readText()')
			await page.getByRole('button', { name: 'Copy', exact: true }).click()
			await page.getByRole('button', { name: 'Copied' }).waitFor()
			assert.is(await copied(), `curl '${origin}/garden/herbs/mint'`)
			const form = page.locator('details.operation[open] form')
			await form.getByLabel('day', { exact: true }).fill('2026-01-02')
			await form.getByRole('button', { name: 'Copy as curl' }).click()
			await form.getByRole('button', { name: 'Copied' }).waitFor()
			const line = `curl -X PATCH '${origin}/garden/herbs/mint' -H 'Content-Type: application/json' --data-raw '{"day":"2026-01-02"}'`
			assert.is(await copied(), line)
		}),
	)

	browserTest('responses that are not our pages are left to the browser', () =>
		on('/', async (page) => {
			await page.getByRole('link', { name: '/garden/picture' }).click()
			await page.waitForURL('**/garden/picture')
			assert.is(await page.title(), 'mine')
			await page.goBack()
			await page.getByRole('heading', { name: 'All routes' }).waitFor()
		}),
	)

	browserTest('it reports an unreachable server', () =>
		on({ path: LIST, allowed: /^Failed to load resource: / }, async (page) => {
			await page.route('**/*', (route) => route.abort())
			await page.getByRole('link', { name: 'Next →' }).click()
			await page.getByText('The server can’t be reached. Try again.').waitFor()
		}),
	)
})
