/**
 * `npm run screenshots`: writes the pictures of the explorer in `docs/images/`. The example blog's records are always
 * the same; what differs by day and port is put right.
 */
import { mkdirSync, rmSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { launch } from '../helpers/chromium.ts'
import { ROOT } from '../helpers/program.ts'
import { type BlogSite, blogSite } from './blog-site.ts'

const FOLDER = `${ROOT}/docs/images`
const HOST = 'api.example.org'
const PAGES: readonly Shown[] = [
	{ name: 'list', path: '/blog/api/articles?sort=-published&limit=10&count=exact', named: 'Yuki Tanabe' },
	// With its comments, and the name of its author.
	{ name: 'record', path: '/blog/api/articles/85', named: 'Birgit Hansen', height: 1_060 },
	{
		...{
			name: 'choice',
			path: '/blog/api/articles?limit=3',
			named: 'Ines Carvalho',
			height: 1_080,
			isWide: true,
		},
		async act(page) {
			await page.getByText('Add to the articles').click()
			const author = page.getByRole('combobox', { name: 'authorId' })
			await author.pressSequentially('an')
			await page.locator('li[role=option]').first().waitFor()
			for (let at = 0; at < 3; at++) await author.press('ArrowDown')
		},
	},
	{
		...{ name: 'totals', path: '/blog/api/articles/totals?by=topic&count=exact&sort=-count', height: 700 },
		isWide: true,
	},
	{
		...{ name: 'selected', path: '/blog/api/comments?limit=6', height: 640, isWide: true },
		async act(page) {
			for (const at of [1, 3]) await page.getByRole('checkbox').nth(at).check()
		},
	},
	{ name: 'map', path: '/' },
]
const SIZES = [
	[1280, 860],
	[390, 844],
] as const

interface Shown {
	readonly name: string
	readonly path: string
	/** A record that is named, once the page has everything. */
	readonly named?: string
	/** For wide screens. */
	readonly height?: number
	/** Whether it is shown on wide screens only. */
	readonly isWide?: boolean
	/** What is done on the page. */
	act?(page: Page): Promise<void>
}

mkdirSync(FOLDER, { recursive: true })
const site = await blogSite()
const browser = await launch()
try {
	for (const [width, height] of SIZES)
		for (const colorScheme of ['light', 'dark'] as const)
			await take(browser, site, { width, height, colorScheme })
} finally {
	await browser.close()
	await site.close()
}

interface Look {
	readonly width: number
	readonly height: number
	readonly colorScheme: 'light' | 'dark'
}

/** The pages as an editor sees them. */
async function take(browser: Browser, { url, token }: BlogSite, look: Look): Promise<void> {
	const { width, height, colorScheme } = look
	const context = await browser.newContext({ viewport: { width, height }, colorScheme, deviceScaleFactor: 1 })
	const page = await context.newPage()
	await page.goto(`${url}/`)
	await page.getByRole('button', { name: 'Credentials' }).click()
	await page.getByLabel('Token').fill(token)
	await page.getByRole('button', { name: 'Use token' }).click()
	await page.getByText('as ruth').waitFor()
	for (const { name, path, named, height: own, isWide, act } of PAGES) {
		if (isWide === true && width < 1_000) continue
		await page.setViewportSize({ width, height: width < 1_000 ? height : (own ?? height) })
		if (path !== '/') {
			await page.evaluate(
				`history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
			)
			await page.locator('.answer').waitFor()
			await page
				.getByRole('heading', { level: 1 })
				.getByText(path.split('?')[0] ?? '')
				.waitFor()
			await page
				.getByRole('link', { name: named ?? '' })
				.first()
				.waitFor()
			await page.locator('[aria-busy]').waitFor({ state: 'detached' })
		}
		await page.evaluate(
			`document.querySelectorAll('.curl code').forEach((one) => { one.textContent = one.textContent.replace(location.host, '${HOST}') }); document.activeElement.blur(); scrollTo(0, 0)`,
		)
		await act?.(page)
		await page.mouse.move(0, 0)
		const file = `${FOLDER}/explorer-${name}-${width}-${colorScheme}.png`
		rmSync(file, { force: true })
		await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' })
		if (name !== 'map') {
			await page.goBack()
			await page.getByRole('heading', { level: 1, name: 'All routes' }).waitFor()
		}
	}
	await context.close()
}
