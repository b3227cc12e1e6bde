/** `examples/crud-page`, as people use it in a browser, and the client within it. */
import { readFileSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { CrudClient, signRequest } from '../../lib/client/index.ts'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { until } from '../helpers/listening.ts'
import { freePorts, ROOT, type Running, start, typescript, untilPrinted } from '../helpers/program.ts'

const PROGRAM = typescript('examples/crud-page/main.ts')
const AXE = readFileSync(`${ROOT}/node_modules/axe-core/axe.min.js`, 'utf8')
const MARKUP = '<script>document.title = "owned"</script>'
const IMAGE = '"><img src=x onerror=document.title="owned">'
/** What Chromium itself says of an answer that is no success. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4\d\d /
const CHANGED = 'Somebody else has changed this article since you opened it.'

describe('examples/crud-page', (test) => {
	const browserTest = inChromium(test, 'examples/crud-page')
	let program: Running | undefined
	let browser: Browser | undefined
	let origin = ''
	let secret = ''

	test.after(async () => {
		await browser?.close()
		program?.child.kill('SIGKILL')
		await program?.ended
	})

	/** Opens the page and runs `use`; fails where it has complained on its console, or its policy was violated. */
	async function onPage(
		use: (page: Page, another: () => Promise<Page>) => Promise<void>,
		allowed: RegExp = /^$/,
	): Promise<void> {
		const context = await browser?.newContext({ viewport: { width: 390, height: 844 } })
		assert.ok(context)
		const complaints: string[] = []
		try {
			const page = await watched(context, complaints)
			await page.goto(origin)
			await shows(page, ' of ')
			await use(page, async () => {
				const other = await watched(context, complaints)
				await other.goto(origin)
				return other
			})
			assert.match(await page.title(), /(?:^|– )Articles$/)
			assert.equal(
				complaints.filter((text) => !allowed.test(text)),
				[],
			)
		} finally {
			await context.close()
		}
	}

	/** As a user does it: with what the program has printed. */
	async function signIn(page: Page): Promise<void> {
		await page.getByRole('button', { name: 'Sign in' }).click()
		await enter(page, secret)
		await page.getByText('Signed in as demo').waitFor()
	}

	/** An article of the test's own, for as long as `use` takes. */
	async function withArticle(
		values: Readonly<Record<string, string>>,
		use: (id: number, read: () => Promise<Readonly<Record<string, unknown>>>) => Promise<void>,
	): Promise<void> {
		const articles = new CrudClient<{ id: number } & Record<string, unknown>>('article', `${origin}/api`, {
			sign: (request) => signRequest(request, { id: 'demo', secret }),
		})
		const { id } = await articles.create(values)
		try {
			await use(Number(id), () => articles.get(Number(id)))
		} finally {
			const { data } = await articles.list({ where: { id: Number(id) } })
			if (data.length > 0) await articles.delete(Number(id))
		}
	}

	// No hook: what fails in `before` fails no test.
	browserTest('the program starts, and prints where the page is and how to sign in', async () => {
		browser = await launch()
		const port = (await freePorts(1))[0] ?? 0
		origin = `http://127.0.0.1:${port}`
		program = start({ args: PROGRAM, env: { PORT: String(port) } })
		await untilPrinted(program, 'the secret ')
		assert.match(program.output(), `The page is at ${origin}\n`)
		secret = /with the key "demo" and the secret ([\w+/]{43}=)\n/.exec(program.output())?.[1] ?? ''
		assert.is.not(secret, '')
	})

	browserTest('lists records, and pages back and forth', () =>
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

	browserTest('filters, and pages through the result', () =>
		onPage(async (page) => {
			await page.getByLabel('Show').selectOption({ label: 'Drafts' })
			await shows(page, '1 to 10 of 10')
			assert.equal(new Set(await page.locator('#records .state').allTextContents()), new Set(['draft']))
			await page.getByLabel('Search').fill('winter')
			await shows(page, '1 to 2 of 2')
			assert.equal(await titles(page), ['Chervil through the winter', 'Hyssop through the winter'])
			await page.getByLabel('Search').fill('')
			await page.getByLabel('Show').selectOption({ label: 'Published' })
			await shows(page, '1 to 10 of 30')
			await page.getByRole('button', { name: 'Next' }).click()
			await shows(page, '11 to 20 of 30')
			assert.equal(new Set(await page.locator('#records .state').allTextContents()), new Set(['published']))
			// Typed and turned before it is asked for: the page behind is that of another list.
			const search = "document.getElementById('search')"
			await page.evaluate(
				`${search}.value = 'winter'; ${search}.dispatchEvent(new Event('input')); document.getElementById('next').click()`,
			)
			await shows(page, '1 to 6 of 6')
			await page.getByLabel('Search').fill('')
			await shows(page, '1 to 10 of 30')
			await page.getByLabel('Show').selectOption({ label: 'All' })
			await shows(page, '1 to 10 of 40')
		}),
	)

	browserTest('links lead to each article, to its address in the API, and back', () =>
		onPage(async (page) => {
			await page.getByRole('link', { name: 'Chervil for tea' }).click()
			await page.waitForURL(`${origin}/#article/39`)
			await page.locator('#view h2', { hasText: 'Chervil for tea' }).waitFor()
			assert.is(await focused(page), 'Chervil for tea')
			assert.is(await page.title(), 'Chervil for tea – Articles')
			await page.getByText('What we have learned about chervil for tea in three years.').waitFor()
			assert.not(await page.getByLabel('Search').isVisible())
			await page.getByRole('link', { name: 'This article as the API has it' }).click()
			await page.waitForURL(`${origin}/api/article/39`)
			await page.getByText('"slug":"chervil-for-tea"').waitFor()
			await page.goBack()
			await page.getByRole('link', { name: 'All articles' }).click()
			await shows(page, '1 to 10 of 40')
			assert.is(await focused(page), 'Edit Chervil for tea')
			await page.goto(`${origin}/#article/7`)
			await page.getByRole('heading', { name: 'Thyme from cuttings' }).waitFor()
			await page.reload()
			await page.getByRole('heading', { name: 'Thyme from cuttings' }).waitFor()
			await page.goto(`${origin}/#article/999`)
			await says(page, 'Not Found')
			await shows(page, '1 to 10 of 40')
		}, REFUSED),
	)

	browserTest('signs writes, with a key that cannot be read out of the page', () =>
		onPage(async (page) => {
			await page.evaluate(NOTE_IMPORTED_KEYS)
			await page.getByRole('button', { name: 'New article' }).click()
			await page.getByRole('dialog', { name: 'Sign in' }).waitFor()
			await enter(page, 'not base64!')
			await tells(page, '#door-wrong', 'There is no such key, or its secret is another.')
			const refusal = page.waitForResponse((one) => one.status() === 401)
			await enter(page, Buffer.alloc(32).toString('base64'))
			await refusal
			await tells(page, '#door-wrong', 'There is no such key, or its secret is another.')
			assert.is(await page.getByLabel('Secret').inputValue(), '')

			await enter(page, secret)
			await page.getByRole('dialog', { name: 'New article' }).waitFor()
			await page.getByRole('textbox', { name: 'Title' }).fill('Signed')
			await page.getByLabel('Address').fill('signed')
			const request = page.waitForRequest((one) => one.method() === 'POST')
			await page.getByRole('button', { name: 'Save' }).click()
			await says(page, '“Signed” was created')
			const headers = await (await request).allHeaders()
			assert.match(headers['signature-input'] ?? '', /^sig=\("@method" .*"content-digest".*;keyid="demo";/)
			assert.match(headers.signature ?? '', /^sig=:[\w+/]{43}=:$/)
			assert.not(JSON.stringify(headers).includes(secret))

			await page.getByRole('button', { name: 'Delete Signed' }).click()
			await says(page, '“Signed” was deleted')

			const once = [{ name: 'HMAC', hash: 'SHA-256' }, false, ['sign']]
			assert.equal(await page.evaluate('imported'), [once, once])
			const kept = await page.evaluate(
				'[document.documentElement.outerHTML, ...[...document.querySelectorAll("input")].map((one) => one.value), location.href, document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage)].join()',
			)
			assert.not(String(kept).includes(secret))

			await page.getByRole('button', { name: 'Sign out' }).click()
			assert.is(await focused(page), 'Sign in')
			await page.getByRole('button', { name: /^Edit/ }).first().click()
			await page.getByRole('dialog', { name: 'Sign in' }).waitFor()
			const unsigned = await fetch(`${origin}/api/article/1`, { method: 'DELETE' })
			assert.is(unsigned.status, 401)
		}, REFUSED),
	)

	browserTest(
		'reports a conflict to the second who saves, and keeps their input next to the stored values',
		() =>
			withArticle({ title: 'Lovage for two', slug: 'for-two' }, (_, read) =>
				onPage(async (page, another) => {
					const second = await another()
					for (const tab of [page, second]) {
						await tab.bringToFront()
						await signIn(tab)
						await tab.getByRole('button', { name: 'Edit Lovage for two' }).click()
						await tab.getByRole('dialog', { name: 'Edit Lovage for two' }).waitFor()
					}
					await page.bringToFront()
					await page.getByRole('textbox', { name: 'Title' }).fill('Lovage for soup')
					await page.getByLabel('Status').selectOption('published')
					await page.getByRole('button', { name: 'Save' }).click()
					await says(page, '“Lovage for soup” was saved')

					await second.bringToFront()
					await second.getByRole('textbox', { name: 'Title' }).fill('Lovage for salad')
					await second.getByLabel('Text').fill('Mine.')
					await second.getByRole('button', { name: 'Save' }).click()
					await tells(second, '#form-wrong', CHANGED)
					assert.is((await read()).title, 'Lovage for soup')
					await second.getByRole('button', { name: 'Load what is there now' }).click()
					await tells(second, '#title-wrong', 'Now there is: Lovage for soup')
					await tells(second, '#form-wrong', 'What you typed is still here. Save, if it shall stand.')
					assert.is(await second.getByRole('textbox', { name: 'Title' }).inputValue(), 'Lovage for salad')
					assert.is(await second.getByLabel('Status').inputValue(), 'published')
					assert.is(await second.getByLabel('Text').inputValue(), 'Mine.')
					assert.not(await second.getByRole('button', { name: 'Load what is there now' }).isVisible())
					await second.getByRole('button', { name: 'Save' }).click()
					await says(second, '“Lovage for salad” was saved')
					const { title, status, body } = await read()
					assert.equal([title, status, body], ['Lovage for salad', 'published', 'Mine.'])
				}, REFUSED),
			),
	)

	browserTest('deletes a displayed article only in its displayed version', () =>
		withArticle({ title: 'Lovage alone', slug: 'alone' }, (id) =>
			onPage(async (page, another) => {
				const second = await another()
				for (const tab of [page, second]) {
					await tab.bringToFront()
					await signIn(tab)
					await tab.getByRole('link', { name: 'Lovage alone' }).click()
					await tab.locator('#view h2', { hasText: 'Lovage alone' }).waitFor()
					assert.is(tab.url(), `${origin}/#article/${id}`)
				}
				await second.getByRole('button', { name: 'Edit Lovage alone' }).click()
				await second.getByRole('textbox', { name: 'Title' }).fill('Lovage and friends')
				await second.getByRole('button', { name: 'Save' }).click()
				await says(second, '“Lovage and friends” was saved')
				assert.is(await focused(second), 'Lovage and friends')

				await page.bringToFront()
				await page.getByRole('button', { name: 'Delete Lovage alone' }).click()
				await says(page, CHANGED)
				await page.getByRole('button', { name: 'Delete Lovage and friends' }).click()
				await says(page, '“Lovage and friends” was deleted')
				await shows(page, '1 to 10 of 40')
				assert.is(page.url(), `${origin}/#`)
			}, REFUSED),
		),
	)

	browserTest('creates, edits and deletes with the keyboard only', () =>
		onPage(async (page) => {
			await signIn(page)
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

	browserTest('shows errors next to the fields: of rules and of unique values', () =>
		onPage(async (page) => {
			await signIn(page)
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
		}, REFUSED),
	)

	browserTest('shows stored values as text', () =>
		onPage(async (page) => {
			await signIn(page)
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
				await page.getByRole('link', { name: title }).click()
				await page.locator('#view h2', { hasText: title }).waitFor()
				assert.is(await page.locator('#view .body').textContent(), title)
				assert.is(await page.title(), `${title} – Articles`)
				assert.is(await page.locator('main script, main img').count(), 0)
				await page.getByRole('link', { name: 'All articles' }).click()
				await shows(page, ' of ')
			}
			assert.is(await page.locator('main script, main img').count(), 0)
			for (const title of [MARKUP, IMAGE]) await page.getByRole('button', { name: `Delete ${title}` }).click()
			await shows(page, '1 to 10 of 40')
		}),
	)

	browserTest('reports a deleted record, and an unreachable server', () =>
		onPage(async (page) => {
			await signIn(page)
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

	browserTest('the client works in it as elsewhere', () =>
		onPage(async (page) => {
			await page.route('**/api/unreachable/*', (route) => route.abort())
			assert.equal(await page.evaluate(clientInPage(secret)), {
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

	browserTest('fits phones and desktops, in dark and light mode', () =>
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
		}),
	)

	browserTest('axe-core finds nothing serious, in every view, size and colour scheme', () =>
		onPage(async (page) => {
			await page.evaluate(AXE)
			assert.equal(await violations(page), [])
			await page.getByRole('button', { name: 'Sign in' }).click()
			assert.equal(await violations(page), [])
			await enter(page, secret)
			await page.getByText('Signed in as demo').waitFor()
			await page.getByRole('button', { name: 'New article' }).click()
			await page.getByRole('button', { name: 'Save' }).click()
			await page.locator('#title[aria-invalid=true]').waitFor()
			assert.equal(await violations(page), [])
			await page.getByRole('button', { name: 'Cancel' }).click()
			await page.getByRole('link', { name: 'Chervil for tea' }).click()
			await page.locator('#view h2', { hasText: 'Chervil for tea' }).waitFor()
			assert.equal(await violations(page), [])
		}, REFUSED),
	)

	browserTest('markup injection is also blocked by the policy, which this test can detect', () =>
		onPage(async (page) => {
			const markup = JSON.stringify(IMAGE)
			await page.evaluate(`document.querySelector('main').insertAdjacentHTML('beforeend', ${markup})`)
			await until(async () => (await page.evaluate('violated')) === 2, 'the policy is violated twice')
			assert.is(await page.title(), 'Articles')
		}, /^the policy was violated: (?:img-src|script-src-attr) |violates the following Content Security Policy/),
	)

	browserTest('the program ends on SIGTERM', async () => {
		program?.child.kill('SIGTERM')
		assert.is(await program?.ended, 0)
	})
})

/** A program for the page: notes what `importKey` is told of a key beside its bytes. */
const NOTE_IMPORTED_KEYS = `(() => {
	globalThis.imported = []
	const importKey = crypto.subtle.importKey.bind(crypto.subtle)
	crypto.subtle.importKey = (format, bytes, ...rest) => {
		imported.push(rest)
		return importKey(format, bytes, ...rest)
	}
})()`

/** A program for the page: each of the client's promises that a browser could break. */
const clientInPage = (secret: string) => `(async () => {
	const { ApiError, CrudClient, signRequest } = await import('/client.js')
	const methods = []
	const articles = new CrudClient('article', '/api', {
		sign: (request) => signRequest(request, { id: 'demo', secret: '${secret}' }),
	})
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

/** A page whose complaints are kept: on its console, and of its policy. */
async function watched(context: BrowserContext, complaints: string[]): Promise<Page> {
	const page = await context.newPage()
	page.setDefaultTimeout(30_000)
	page.on('pageerror', (error) => complaints.push(String(error)))
	page.on('console', (message) => {
		if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
	})
	page.on('dialog', (dialog) => void dialog.accept())
	await page.exposeFunction('violation', (what: string) =>
		complaints.push(`the policy was violated: ${what}`),
	)
	await page.addInitScript(`
		violated = 0
		addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
			violated += 1
			violation(effectiveDirective + ' ' + blockedURI)
		})
	`)
	return page
}

/** What axe-core finds serious or critical, and what is too wide, at both widths, in the light and in the dark. */
async function violations(page: Page): Promise<unknown[]> {
	const found: unknown[] = []
	for (const colorScheme of ['light', 'dark'] as const) {
		for (const width of [390, 1_280]) {
			await page.emulateMedia({ colorScheme })
			await page.setViewportSize({ width, height: 844 })
			const results: unknown[] =
				await page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
				violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
					.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
			found.push(...results.map((one) => `${width} ${colorScheme} ${one}`))
		}
	}
	return found
}

/** Fills in the key, and sends it. */
async function enter(page: Page, secret: string): Promise<void> {
	await page.getByLabel('Key').fill('demo')
	await page.getByLabel('Secret').fill(secret)
	await page.getByLabel('Secret').press('Enter')
}

/** Waits until the line about the page holds a text. */
async function shows(page: Page, text: string): Promise<void> {
	await page.locator('#pages', { hasText: text }).waitFor()
}

/** Waits until the first record has a title. */
async function begins(page: Page, title: string): Promise<void> {
	const first = page.locator('#records h2 a').first()
	await first.and(page.getByText(title, { exact: true })).waitFor()
}

/** Waits until the line about what was done is a text. */
async function says(page: Page, text: string): Promise<void> {
	await page.locator('#says').getByText(text, { exact: true }).waitFor()
}

/** Waits until an element's text is this. */
async function tells(page: Page, selector: string, text: string): Promise<void> {
	await page.locator(selector).getByText(text, { exact: true }).waitFor()
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
