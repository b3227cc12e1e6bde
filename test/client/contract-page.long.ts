/**
 * The client's contract in Chromium: a page with `<script type="module">` imports the module as it is built for the
 * package, by a relative path, and nothing else; page, module and APIs come from one server.
 */
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { type Handlers, RestHandler, reply } from '../../lib/index.ts'
import { articlesOf } from '../acceptance/app.ts'
import { openArticles } from '../acceptance/articles.ts'
import { openStore, type StoreName, storesHere } from '../crud/over/stores.ts'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { listening } from '../helpers/listening.ts'
import { ROOT } from '../helpers/program.ts'
import { lanes } from './contract.ts'
import { siteOf } from './contract-site.ts'

/** The HTML of a user's page, written by hand. */
const PAGE = '<!doctype html><title>Contract</title><script type="module" src="./page.js"></script>'
const SCRIPT = `import { ApiError, CrudClient, etagOf, signRequest } from './client.js'
import { failures } from './contract.js'
const tools = { ApiError, CrudClient, etagOf, signRequest, blog: '/blog/api', site: '/site' }
globalThis.failures = () => failures(tools)
`
const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; base-uri 'none'"

/** As `npm run build` does it for `dist/client/index.js`. */
async function moduleOf(file: string): Promise<string> {
	const { outputFiles } = await build({
		...{ entryPoints: [`${ROOT}/${file}`], bundle: true, write: false },
		...{ format: 'esm', platform: 'neutral', target: 'es2022' },
	})
	return outputFiles.map(({ text }) => text).join('')
}

class Files extends RestHandler {
	override customRoutes = { 'GET %s': 'file' }
	private readonly texts: Readonly<Record<string, string>>

	constructor(files: Readonly<Record<string, string>>) {
		super()
		this.texts = files
	}

	get__default() {
		return reply(Buffer.from(PAGE), {
			headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': POLICY },
		})
	}

	file(name: string) {
		const text = this.texts[name]
		if (text === undefined) return this.error('not_found')
		return reply(Buffer.from(text), { headers: { 'Content-Type': 'text/javascript; charset=utf-8' } })
	}
}

/** Opens the page over a store's tables; fails if it reports anything but error responses. */
async function onPage(store: StoreName, files: Files, use: (page: Page) => Promise<void>): Promise<void> {
	const [things, articles] = await Promise.all([openStore(store, 'page'), openArticles(store)])
	const browser = await launch()
	try {
		const handlers: Handlers = { '': files, 'blog/api/article': articlesOf(articles.model) }
		await listening({ ...handlers, ...siteOf(things.model) }, {}, async ({ url }) => {
			const page = await browser.newPage()
			const complaints: string[] = []
			page.on('pageerror', (error) => complaints.push(String(error)))
			page.on('console', (message) => complaints.push(message.text()))
			await page.goto(url)
			await page.waitForFunction('globalThis.failures !== undefined')
			await use(page)
			const foreign = complaints.filter((text) => !/^Failed to load resource: .* status of [45]/.test(text))
			assert.equal(foreign, [])
		})
	} finally {
		await browser.close()
		await Promise.all([things.close(), articles.close()])
	}
}

/** The other stores: `contract.test.ts`. */
const stores = (await storesHere()).filter((name) => name !== 'memory')

describe("the client's contract in a page", (test) => {
	const browserTest = inChromium(test, "the client's contract")
	for (const store of stores) {
		browserTest(`${lanes.flat().length} cases over ${store}`, async () => {
			const [client, contract] = await Promise.all(
				['lib/client/index.ts', 'test/client/contract.ts'].map(moduleOf),
			)
			const files = new Files({ 'page.js': SCRIPT, 'client.js': `${client}`, 'contract.js': `${contract}` })
			await onPage(store, files, async (page) => {
				assert.equal(await page.evaluate('failures()'), [])
			})
		})
	}
})
