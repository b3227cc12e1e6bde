/** Exports and imports in a real browser: what pages offer, and to whom. */
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import {
	type AccessRules,
	anyOf,
	CrudHandler,
	createServer,
	HmacAuthenticator,
	MemoryModel,
	newToken,
	type Server,
	TokenAuthenticator,
} from '../../lib/index.ts'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'
import { findings, tabTo } from './axe.ts'
import { column, SECRET, useToken, visit } from './garden.ts'
import { dataIn, open } from './page-of.ts'

const { token, digest } = newToken()
const RUTH = { Authorization: `Bearer ${token}` }
const ROWS = 30_000
const REFUSED_OR_LOST = /^Failed to load resource: (?:the server responded with a status of 4\d\d |net::ERR_)/

class Herbs extends CrudHandler {
	override access: AccessRules = { import: 'user', export: 'user' }
}

function shop(): Server {
	const model = () =>
		new MemoryModel('herb', {
			key: 'id',
			unique: [['name']],
			fields: { id: 'integer', name: 'text', note: { type: 'text', nullable: true } },
			rows: [
				{ name: 'sage', note: 'a "quoted"\r\ntext' },
				{ name: 'mint', note: '=1+1' },
			],
		})
	const settings = {
		visible: 'all',
		updatable: ['name', 'note'],
		allow: ['list', 'read', 'create', 'export', 'import'],
		filterable: ['name'],
		limit: 1,
	} as const
	const rows = Array.from({ length: ROWS }, (_, at) => ({ text: `line ${at} ${'x'.repeat(100)}` }))
	const many = new MemoryModel('row', { key: 'id', fields: { id: 'integer', text: 'text' }, rows })
	return createServer(
		{
			herbs: new Herbs(model(), settings),
			open: new CrudHandler(model(), { ...settings, allow: ['list', 'export'] }),
			listed: new CrudHandler(model(), { ...settings, allow: ['list'] }),
			rows: new CrudHandler(many, { visible: 'all', allow: ['list', 'read', 'export'] }),
		},
		{
			...{ explorer: true, logger: new Log(), graceTimeoutSeconds: 0.1 },
			authenticator: anyOf(
				new TokenAuthenticator({ tokens: (sent) => (sent === digest ? { id: 'ruth' } : undefined) }),
				new HmacAuthenticator(undefined, undefined, 300, { keys: { k1: SECRET } }),
			),
		},
	)
}

/** Whether a page has exports, and where it imports. */
async function offered(server: Server, url: string, headers = {}): Promise<unknown[]> {
	const { operations } = dataIn(await open(server, url, headers))
	return [
		operations.some((one) => one.exports),
		...operations.flatMap(({ imports, url: to }) => (imports ? [to] : [])),
	]
}

/** What a click on the button saves. */
async function saved(page: Page, name: string): Promise<{ name: string; text: string }> {
	const [download] = await Promise.all([
		page.waitForEvent('download'),
		page.getByRole('button', { name, exact: true }).click(),
	])
	return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
}

async function choose(page: Page, name: string, text: string): Promise<void> {
	await page.locator('#import-file').setInputFiles({ name, mimeType: '', buffer: Buffer.from(text) })
}

describe('explorer: exports and imports', (test) => {
	const browserTest = inChromium(test, 'the explorer')
	let browser: Browser | undefined

	test.after(() => browser?.close())

	async function on(path: string, use: (page: Page, server: Server) => Promise<void>): Promise<void> {
		browser ??= await launch()
		const server = shop()
		try {
			const { url } = await server.listen()
			await visit(browser, url, { path, allowed: REFUSED_OR_LOST }, (page) => use(page, server))
		} finally {
			await server.close()
		}
	}

	test('lists offer what the caller may do, by the rules for export and import', async () => {
		const server = shop()
		assert.equal(await offered(server, '/herbs', RUTH), [true, '/herbs/import'])
		assert.equal(await offered(server, '/herbs'), [false])
		assert.equal(await offered(server, '/herbs/1', RUTH), [false])
		assert.equal(await offered(server, '/open'), [true])
		assert.equal(await offered(server, '/listed', RUTH), [false])
		assert.equal(await offered(server, '/herbs?limit=x', RUTH), [false])
	})

	browserTest('all that matches is saved, whatever the page shows of it', () =>
		on('/herbs?sort=-name', async (page) => {
			await useToken(page, token)
			assert.equal(await column(page, 2), ['sage'])
			assert.equal(await saved(page, 'Export CSV'), {
				name: 'herbs.csv',
				text: 'id,name,note\r\n1,sage,"a ""quoted""\r\ntext"\r\n2,mint,\'=1+1\r\n',
			})
			await page.getByText('Exported 2 records to herbs.csv.').waitFor()
			assert.equal(await findings(page), [])
			await page.goto(`${new URL(page.url()).origin}/herbs?name=mint`)
			await useToken(page, token)
			await tabTo(page, 'export ndjson')
			assert.equal(await saved(page, 'Export lines of JSON'), {
				name: 'herbs.ndjson',
				text: '{"id":2,"name":"mint","note":"=1+1"}\n{"done":1}\n',
			})
			await page.getByText('Exported 1 record to herbs.ndjson.').waitFor()
		}),
	)

	browserTest('an export shows how far it is, and can be stopped', () =>
		on('/rows', async (page, server) => {
			await page.evaluate(`window.seen = []
				new MutationObserver(() => seen.push(document.querySelector('.notice .quiet')?.textContent))
					.observe(document.getElementById('notices'), { subtree: true, childList: true })`)
			const { text } = await saved(page, 'Export CSV')
			const seen = (await page.evaluate('seen')) as (string | undefined)[] // as pushed above
			assert.ok(seen.filter((one) => /^[1-9]\d* records$/.test(one ?? '')).length > 1, seen.join())
			assert.is(text.split('\r\n').length, ROWS + 2)
			await page.getByText(`Exported ${ROWS} records to rows.csv.`).waitFor()
			const type = 'application/x-ndjson'
			await page.route(
				'**/rows',
				(route) => void route.fulfill({ contentType: type, body: '{"id":1}\n{"id":2}\n' }),
			)
			await page.getByRole('button', { name: 'Export lines of JSON' }).click()
			await page.getByText('The export of rows.ndjson was cut off; nothing is saved.').waitFor()
			await page.unroute('**/rows')
			await page.route('**/rows', (route) => void route.fulfill({ contentType: 'text/html', body: 'log in' }))
			await page.getByRole('button', { name: 'Export CSV' }).click()
			await page.getByText('/rows answered text/html, which is no export.').waitFor()
			await page.unroute('**/rows')
			await page.route('**/rows', () => {})
			await page.getByRole('button', { name: 'Export CSV' }).click()
			// It goes on while other pages are shown.
			await page.getByRole('link', { name: '1', exact: true }).first().click()
			await page.waitForURL(/\/rows\/1$/)
			await page.getByText('Exporting rows.csv…').waitFor()
			await page.getByRole('button', { name: 'Stop' }).click()
			await page.getByText('The export was stopped.').waitFor()
			await page.unrouteAll({ behavior: 'ignoreErrors' })
			await page.goBack()
			await page.getByRole('button', { name: 'Export CSV' }).waitFor()
			await server.close()
			await page.getByRole('button', { name: 'Export CSV' }).click()
			await page.getByText(/The server can’t be reached/).waitFor()
		}),
	)

	browserTest('a file is checked, and imported when nothing is wrong with it', () =>
		on('/herbs?limit=10', async (page) => {
			await useToken(page, token)
			await page.getByText('Import herbs').click()
			await page.getByRole('button', { name: 'Check only' }).click()
			await page.getByText('Choose a file first.').waitFor()
			await choose(page, 'new.csv', 'name,note\r\nthyme,\r\n,empty\r\n')
			await page.getByRole('button', { name: 'Check only' }).click()
			await page.getByText('Something isn’t right yet, by line and field:').waitFor()
			await page.locator('.alert li', { hasText: /^3\.name: / }).waitFor()
			await page.getByRole('button', { name: 'Import', exact: true }).click()
			await page.getByText(/^Nothing was imported\. .* \(422\)$/).waitFor()
			assert.equal(await findings(page), [])
			await choose(page, 'new.csv', 'name,note\r\nthyme,\r\nsage,again\r\n')
			await page.getByRole('button', { name: 'Import', exact: true }).click()
			await page.getByText(/^Nothing was imported\. .* \(409\)$/).waitFor()
			await page.locator('.alert li', { hasText: /^3\.name: is taken/ }).waitFor()
			await choose(page, 'new.csv', 'name,note\r\nthyme,\r\ndill,green\r\n')
			await page.getByRole('button', { name: 'Check only' }).click()
			await page.getByText('2 records could be imported.').waitFor()
			assert.equal(await column(page, 2), ['sage', 'mint'])
			// Pressed twice, it is sent once. (A second click would miss the button, as the box above moves it.)
			let imports = 0
			await page.route('**/import', async (route) => {
				imports++
				await setTimeout(500)
				await route.continue()
			})
			await tabTo(page, 'import')
			await page.keyboard.press('Enter')
			await page.keyboard.press('Enter')
			await page.getByText('2 records imported.').waitFor()
			await page.getByRole('cell', { name: 'dill' }).waitFor()
			assert.equal((await column(page, 2)).slice(0, 4), ['sage', 'mint', 'thyme', 'dill'])
			assert.is(imports, 1)
		}),
	)

	browserTest('lines of JSON are imported by a session that signs its requests', () =>
		on('/herbs?limit=10', async (page) => {
			await page.getByRole('button', { name: 'Credentials' }).click()
			await page.getByLabel('Key id').fill('k1')
			await page.getByLabel('Secret').fill(SECRET)
			await page.getByRole('button', { name: 'Use key' }).click()
			await page.getByText('as k1').waitFor()
			await page.getByText('Import herbs').click()
			await choose(page, 'new.jsonl', '{"name":"thyme"}\n')
			await page.getByRole('button', { name: 'Import', exact: true }).click()
			await page.getByText('1 record imported.').waitFor()
			await page.getByRole('link', { name: '3', exact: true }).waitFor()
			assert.is((await saved(page, 'Export lines of JSON')).text.split('\n').length, 5)
		}),
	)

	browserTest('an import without an answer says so', () =>
		on('/herbs', async (page) => {
			await useToken(page, token)
			await page.getByText('Import herbs').click()
			await choose(page, 'new.jsonl', '{"name":"thyme"}\n')
			await page.route('**/import', (route) => void route.abort())
			await page.getByRole('button', { name: 'Import', exact: true }).click()
			await page.getByText(/^The server gave no answer\. /).waitFor()
			await page.unroute('**/import')
			await page.route('**/import', () => {})
			await page.getByRole('button', { name: 'Import', exact: true }).click()
			await page.getByRole('button', { name: 'Stop' }).click()
			await page.getByText(/^The import was stopped\. /).waitFor()
			await page.unrouteAll({ behavior: 'ignoreErrors' })
		}),
	)
})
