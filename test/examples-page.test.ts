/** `examples/crud-page`, as people use it in a browser, and the client within it. */
import type { Browser, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { inChromium, launch } from './helpers/chromium.ts'
import { describe } from './helpers/describe.ts'
import { freePorts, type Running, start, typescript, untilPrinted } from './helpers/program.ts'

const PROGRAM = typescript('examples/crud-page/main.ts')
const MARKUP = '<script>document.title = "owned"</script>'
const IMAGE = '"><img src=x onerror=document.title="owned">'

describe('examples/crud-page', (test) => {
	const browserTest = inChromium(test, 'examples/crud-page')
	let program: Running | undefined
	let browser: Browser | undefined
	let origin = ''

	test.after(async () => {
		await browser?.close()
		program?.child.kill('SIGKILL')
		await program?.ended
	})

	/** Opens the page and runs `use`; fails where the page has complained on its console. */
	async function onPage(use: (page: Page) => Promise<void>, allowed: RegExp = /^$/): Promise<void> {
		const context = await browser?.newContext({ viewport: { width: 390, height: 844 } })
		assert.ok(context)
		const page = await context.newPage()
		page.setDefaultTimeout(5_000)
		const complaints: string[] = []
		page.on('pageerror', (error) => complaints.push(String(error)))
		page.on('console', (message) => {
			if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
		})
		page.on('dialog', (dialog) => void dialog.accept())
		try {
			await page.goto(origin)
			await shows(page, ' of ')
			await use(page)
			assert.is(await page.title(), 'Articles')
			assert.equal(
				complaints.filter((text) => !allowed.test(text)),
				[],
			)
		} finally {
			await context.close()
		}
	}

	// No hook: what fails in `before` fails no test.
	browserTest('the program starts, and says where the page is', async () => {
		browser = await launch()
		const port = (await freePorts(1))[0] ?? 0
		origin = `http://127.0.0.1:${port}`
		program = start({ args: PROGRAM, env: { PORT: String(port) } })
		await untilPrinted(program, `The page is at ${origin}`)
	})

	browserTest('lists, and turns pages there and back', () =>
		onPage(async (page) => {
			await shows(page, '1 to 10 of 40')
			const first = await titles(page)
			assert.is(first[0], 'Chervil and its neighbours')
			assert.is(first.length, 10)
			assert.ok(await page.getByRole('button', { name: 'Previous' }).isDisabled())
			await page.getByRole('button', { name: 'Next' }).click()
			await shows(page, '11 to 20 of 40')
			const second = await titles(page)
			assert.equal(
				second.filter((title) => first.includes(title)),
				[],
			)
			await page.getByRole('button', { name: 'Next' }).click()
			await shows(page, '21 to 30 of 40')
			await page.getByRole('button', { name: 'Next' }).focus()
			await page.keyboard.press('Enter')
			await shows(page, '31 to 40 of 40')
			assert.ok(await page.getByRole('button', { name: 'Next' }).isDisabled())
			assert.is(await focused(page), 'Previous')
			for (const shown of ['21 to 30 of 40', '11 to 20 of 40', '1 to 10 of 40']) {
				await page.getByRole('button', { name: 'Previous' }).click()
				await shows(page, shown)
			}
			assert.equal(await titles(page), first)
		}),
	)

	browserTest('searches and sorts', () =>
		onPage(async (page) => {
			await page.getByLabel('Sort').selectOption({ label: 'By title' })
			// What is first now may have been on the page before: only its place tells.
			await begins(page, 'Borage and its neighbours')
			await page.getByLabel('Sort').selectOption({ label: 'Oldest first' })
			await begins(page, 'Lemon verbena through the winter')
			await page.getByLabel('Search').fill('Thyme')
			await shows(page, '1 to 5 of 5')
			assert.is((await titles(page))[0], 'Thyme through the winter')
			await page.getByLabel('Search').fill('Thyme pot')
			await shows(page, '1 to 1 of 1')
			await page.getByLabel('Search').fill('no such plant')
			await shows(page, 'Nothing found')
		}),
	)

	browserTest('creates, edits and deletes, by the keyboard alone', () =>
		onPage(async (page) => {
			await page.getByRole('button', { name: 'New article' }).focus()
			await page.keyboard.press('Enter')
			await page.getByRole('dialog').waitFor()
			assert.is(await focused(page), 'title')
			await page.keyboard.type('Mint')
			await page.keyboard.press('Tab')
			await page.keyboard.type('mint')
			await page.keyboard.press('Enter')
			await says(page, '“Mint” was created')
			await shows(page, '1 to 10 of 41')
			assert.is((await titles(page))[0], 'Mint')
			assert.is(await focused(page), 'Edit Mint')

			await page.keyboard.press('Enter')
			await page.getByRole('dialog', { name: 'Edit Mint' }).waitFor()
			assert.is(await page.getByLabel('Address').inputValue(), 'mint')
			assert.is(await page.getByLabel('Status').inputValue(), 'draft')
			await page.getByRole('textbox', { name: 'Title' }).press('End')
			await page.keyboard.type(' & more')
			await page.keyboard.press('Enter')
			await says(page, '“Mint & more” was saved')
			assert.is((await titles(page))[0], 'Mint & more')
			assert.is(await focused(page), 'Edit Mint & more')

			await page.keyboard.press('Tab')
			assert.is(await focused(page), 'Delete Mint & more')
			await page.keyboard.press('Enter')
			await says(page, '“Mint & more” was deleted')
			await shows(page, '1 to 10 of 40')
			assert.is(await focused(page), 'Edit Chervil and its neighbours')
		}),
	)

	browserTest('says what is wrong beside the fields: by the rules, and with what is there already', () =>
		onPage(
			async (page) => {
				await page.getByRole('button', { name: 'New article' }).click()
				await page.getByLabel('Address').fill('Not An Address')
				await page.getByRole('button', { name: 'Save' }).click()
				await page.locator('#title[aria-invalid=true]').waitFor()
				assert.ok(await text(page, '#title-wrong'))
				assert.ok(await text(page, '#slug-wrong'))
				assert.is(await text(page, '#status-wrong'), '')
				assert.is(await focused(page), 'title')
				await page.getByRole('textbox', { name: 'Title' }).fill('Thyme again')
				await page.getByLabel('Address').fill('thyme-in-a-pot')
				await page.getByRole('button', { name: 'Save' }).click()
				await page.locator('#title[aria-invalid=false]').waitFor()
				assert.is(await text(page, '#title-wrong'), '')
				assert.ok(await text(page, '#slug-wrong'))
				assert.is(await focused(page), 'slug')
				await page.keyboard.press('Escape')
				await shows(page, '1 to 10 of 40')
			},
			// What Chromium itself says of an answer that is no success.
			/^Failed to load resource: the server responded with a status of 4(?:22|09) /,
		),
	)

	browserTest('what is stored is shown as text', () =>
		onPage(async (page) => {
			for (const [slug, title] of [
				['markup', MARKUP],
				['image', IMAGE],
			] as const) {
				await page.getByRole('button', { name: 'New article' }).click()
				await page.getByRole('textbox', { name: 'Title' }).fill(title)
				await page.getByLabel('Address').fill(slug)
				await page.getByLabel('Text').fill(title)
				await page.getByRole('button', { name: 'Save' }).click()
				await says(page, `“${title}” was created`)
				assert.is((await titles(page))[0], title)
				await page.getByRole('button', { name: `Edit ${title}` }).click()
				await page.getByRole('dialog', { name: `Edit ${title}` }).waitFor()
				assert.is(await page.getByLabel('Text').inputValue(), title)
				await page.getByRole('button', { name: 'Cancel' }).click()
			}
			assert.is(await page.locator('main script, main img').count(), 0)
			for (const title of [MARKUP, IMAGE]) await page.getByRole('button', { name: `Delete ${title}` }).click()
			await shows(page, '1 to 10 of 40')
		}),
	)

	browserTest('says so where a record is gone meanwhile, or the server', () =>
		onPage(async (page) => {
			await page.route('**/api/article/*', (route) =>
				route.fulfill({ status: 404, json: { success: false, error: 'No such record', code: 'not_found' } }),
			)
			await page.getByRole('button', { name: /^Edit/ }).first().click()
			await says(page, 'No such record')
			await page.route('**/api/**', (route) => route.abort())
			await page.getByRole('button', { name: 'Next' }).click()
			await says(page, 'The server can’t be reached. Try again.')
		}, /^Failed to load resource: /),
	)

	browserTest('the client works in it as anywhere', () =>
		onPage(async (page) => {
			await page.route('**/api/unreachable/*', (route) => route.abort())
			assert.equal(await page.evaluate(CLIENT_IN_PAGE), {
				url: '/api/article',
				created: { title: 'From the page', slug: 'from-the-page', status: 'draft' },
				changed: 'published',
				deleted: 'published',
				gone: ['ApiError', true, 404, 'not_found', '/api/article/'],
				pages: [15, 15, 10],
				total: 40,
				fields: [{ slug: 'thyme-in-a-pot' }],
				queried: ['GET', 'QUERY', 1],
				refused: ['ApiError', 422, true],
				aborted: 'AbortError',
				unreachable: ['ApiError', 0, 'network_error', 'TypeError'],
			})
		}, /^Failed to load resource: /),
	)

	browserTest('fits on a telephone and on a desk, in the dark and in the light', () =>
		onPage(async (page) => {
			for (const colorScheme of ['light', 'dark'] as const) {
				await page.emulateMedia({ colorScheme })
				for (const width of [390, 1_280]) {
					await page.setViewportSize({ width, height: 844 })
					const wide = await page.evaluate('document.documentElement.scrollWidth')
					assert.is(wide, width, `${width} ${colorScheme}`)
				}
				assert.ok(await contrast(page, 'h1'), `${colorScheme} text`)
				assert.ok(await contrast(page, '.facts'), `${colorScheme} facts`)
				assert.ok(await contrast(page, '#new'), `${colorScheme} button`)
			}
			const unlabelled =
				'document.querySelectorAll("input, select, textarea").values().filter((one) => one.labels.length !== 1).toArray().length'
			assert.is(await page.evaluate(unlabelled), 0)
		}),
	)

	browserTest('the program ends on SIGTERM', async () => {
		program?.child.kill('SIGTERM')
		assert.is(await program?.ended, 0)
	})
})

/** A program for the page: each of the client's promises that a browser could break. */
const CLIENT_IN_PAGE = `(async () => {
	const { ApiError, CrudClient } = await import('/client.js')
	const methods = []
	const articles = new CrudClient('article', '/api')
	const spied = new CrudClient('article', '/api/', {
		fetch: (url, init) => {
			methods.push(init.method)
			return fetch(url, init)
		},
	})
	const thrownBy = (work) => work.then(() => undefined, (error) => error)

	const { id, ...made } = await articles.create({ title: 'From the page', slug: 'from-the-page' })
	const changed = await articles.update(id, { status: 'published' })
	const deleted = await articles.delete(id)
	const gone = await thrownBy(articles.get(id))
	const pages = []
	for await (const { data } of articles.pages({ limit: 15 })) pages.push(data.length)
	const { data: fields } = await articles.list({ where: { slug: ['thyme-in-a-pot'] }, fields: ['slug'] })
	await spied.list()
	const slug = ['thyme-in-a-pot', ...Array.from({ length: 90 }, (_, at) => 'no-such-plant-'.repeat(3) + at)]
	const { meta } = await spied.list({ where: { slug }, count: true })
	const refused = await thrownBy(articles.create({ title: '' }))
	const aborted = await thrownBy(articles.list({}, { signal: AbortSignal.abort() }))
	const unreachable = await thrownBy(new CrudClient('unreachable', '/api').get(5))
	return {
		url: articles.url,
		created: { title: made.title, slug: made.slug, status: made.status },
		changed: changed.status,
		deleted: deleted.status,
		gone: [gone.name, gone instanceof ApiError, gone.status, gone.code, new URL(gone.response.url).pathname.replace(/\\d+/, '')],
		pages,
		total: await articles.count(),
		fields,
		queried: [...methods, meta.total],
		refused: [refused.name, refused.status, refused.details.some(({ field }) => field === 'title')],
		aborted: aborted.name,
		unreachable: [unreachable.name, unreachable.status, unreachable.code, unreachable.cause.name],
	}
})()`

/** Waits until the line about the page holds a text. */
async function shows(page: Page, text: string): Promise<void> {
	await page.locator('#pages', { hasText: text }).waitFor()
}

/** Waits until the first record has a title. */
async function begins(page: Page, title: string): Promise<void> {
	const first = page.locator('#records h2').first()
	await first.and(page.getByText(title, { exact: true })).waitFor()
}

/** Waits until the line about what was done is a text. */
async function says(page: Page, text: string): Promise<void> {
	await page.locator('#says').getByText(text, { exact: true }).waitFor()
}

function titles(page: Page): Promise<string[]> {
	return page.locator('#records h2').allTextContents()
}

function text(page: Page, selector: string): Promise<string | null> {
	return page.locator(selector).textContent()
}

/** What has the focus: its label for the ear, else its name or its text. */
function focused(page: Page): Promise<unknown> {
	return page.evaluate(
		'[document.activeElement].map((one) => one.ariaLabel || one.name || one.textContent).join()',
	)
}

/** Whether a text stands out from what is behind it, by WCAG 2.2 §1.4.3: 4.5 to 1. */
async function contrast(page: Page, selector: string): Promise<boolean> {
	const pair = await page
		.locator(selector)
		.first()
		.evaluate(
			// A text, as the browser's types are not those of this repository.
			new Function(
				'one',
				`
			let behind = one
			const backgroundOf = (node) => getComputedStyle(node).backgroundColor
			while (backgroundOf(behind) === 'rgba(0, 0, 0, 0)') behind = behind.parentElement
			return [getComputedStyle(one).color, backgroundOf(behind)]
		`,
			) as () => [string, string],
		)
	const [light = 0, dark = 0] = pair.map(luminance).sort((a, b) => b - a)
	return (light + 0.05) / (dark + 0.05) >= 4.5
}

function luminance(color: string): number {
	const [red = 0, green = 0, blue = 0] = (color.match(/\d+/g) ?? []).map((digits) => {
		const part = Number(digits) / 255
		return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
	})
	return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
