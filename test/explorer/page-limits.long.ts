/** The page with long, slow, endless or unusual responses, and with double clicks. */
import type { Browser, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	createServer,
	MemoryModel,
	RestError,
	RestHandler,
	reply,
	type Server,
} from '../../lib/index.ts'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { Log, until } from '../helpers/listening.ts'
import { focused, REFUSED, visit } from './garden.ts'

class Odd extends RestHandler {
	override specs = { delete_bed: { why: ['required', 'string', { min: 3 }] } } as const
	/** Of one test: what one before it has left ends in a list of its own. */
	readonly record: { done: string[] } = { done: [] }
	get_rows() {
		return Array.from({ length: 3_000 }, (_, id) => ({ id, text: `row ${id}` }))
	}
	get_wide() {
		return [Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`column ${at}`, at]))]
	}
	get_fields() {
		return Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`field ${at}`, at]))
	}
	get_deep() {
		let value: unknown = Array.from({ length: 150_000 }, () => 1)
		for (let level = 0; level < 60; level++) value = [value]
		return value
	}
	get_events() {
		const { signal } = this.request
		const { done } = this.record
		async function* events() {
			try {
				yield 'data: 1\n\n'
				if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
			} finally {
				done.push('events')
			}
		}
		return reply(events(), { headers: { 'Content-Type': 'text/event-stream' } })
	}
	get_forged() {
		const data = { url: '/', crumbs: [], operations: [], roots: [], user: 'admin' }
		const block = `<script type="application/json" id="data">${JSON.stringify(data)}</script>`
		return reply(`<title>/forged · API explorer</title>${block}`, {
			headers: { 'Content-Type': 'text/html; charset=utf-8' },
		})
	}
	async post_slow() {
		this.record.done.push('slow')
		await new Promise((resolve) => setTimeout(resolve, 100))
	}
	get_bed() {
		return { why: 'thyme' }
	}
	delete_bed() {
		this.record.done.push(`delete because of ${this.getParams(this.specs.delete_bed, this.post).why}`)
	}
	get_error() {
		const details = [{ field: 'name', code: 'taken', message: 'is taken' }]
		throw new RestError('conflict', 'name is taken', { details })
	}
}

function herbs() {
	const fields = { id: 'integer', name: 'text', version: { type: 'integer', default: 1 } } as const
	return new CrudHandler(new MemoryModel('herb', { key: 'id', fields, rows: [{ name: 'mint' }] }), {
		visible: ['id', 'name'],
		updatable: ['name'],
		allow: ['list', 'read', 'update'],
		version: 'version',
	})
}

describe('explorer: limits of the page', (test) => {
	const browserTest = inChromium(test, 'the explorer')
	let browser: Browser | undefined
	let site: { server: Server; url: string; odd: Odd } | undefined

	test.after(async () => {
		await browser?.close()
		await site?.server.close()
	})

	async function on(path: string, use: (page: Page, done: string[]) => Promise<void>): Promise<void> {
		browser ??= await launch()
		if (site === undefined) {
			const odd = new Odd()
			const server = createServer(
				{ odd, herbs: herbs() },
				{ explorer: true, logger: new Log(), graceTimeoutSeconds: 0.1 },
			)
			site = { server, odd, url: (await server.listen()).url }
		}
		const { url, odd } = site
		odd.record.done = []
		await visit(browser, url, { path, allowed: REFUSED }, (page) => use(page, odd.record.done))
	}

	browserTest('of three thousand rows the first thousand are shown, with a note', () =>
		on('/odd/rows', async (page) => {
			await page.getByText('The first 1000 of 3000: all of them are in the JSON.').waitFor()
			assert.is(await page.locator('tbody tr').count(), 1_000)
			await page.getByRole('button', { name: 'JSON' }).click()
			assert.match((await page.locator('pre.json').textContent()) ?? '', '"text": "row 2999"')
			assert.is(await page.locator('pre.json span').count(), 12_003)
		}),
	)

	browserTest('of a record with very many fields the first are shown', () =>
		on('/odd/fields', async (page) => {
			await page.getByText('The first 1000 of 1500: all of them are in the JSON.').waitFor()
			assert.is(await page.locator('dt').count(), 1_000)
		}),
	)

	browserTest('deep and long JSON is shown within seconds', () =>
		on('/odd/deep', async (page) => {
			await page.getByRole('button', { name: 'JSON' }).click()
			await page.locator('pre.json').waitFor()
		}),
	)

	browserTest('an endless response is left to the browser, and its source released', () =>
		on('/', async (page, done) => {
			await page.getByRole('link', { name: '/odd/events' }).click()
			await page.waitForURL('**/odd/events', { waitUntil: 'commit' })
			await until(() => done.length > 0, 'the page has let go')
			await page.goto(new URL('/', page.url()).href)
			await until(() => done.length >= 2, 'the browser has let go')
		}),
	)

	browserTest('markup imitating our page is left to the browser', () =>
		on('/', async (page) => {
			await page.getByRole('link', { name: '/odd/forged' }).click()
			await page.waitForURL('**/odd/forged')
			assert.is(await page.title(), '/forged · API explorer')
		}),
	)

	browserTest('of eighty columns the first sixty are shown, with a note', () =>
		on('/odd/wide', async (page) => {
			await page.getByText('The first 60 of 80 columns: all of them are in the JSON.').waitFor()
			assert.is(await page.locator('thead th').count(), 60)
		}),
	)

	browserTest('a record without forms next to it has the full width', () =>
		on('/odd/fields', async (page) => {
			assert.is(await page.locator('main.record').count(), 0)
			await page.goto(new URL('/herbs/1', page.url()).href)
			assert.is(await page.locator('main.record').count(), 1)
		}),
	)

	browserTest('a double click sends one request', () =>
		on('/odd/slow', async (page, done) => {
			await page.getByText('post_slow').click()
			await page.getByRole('button', { name: 'Create' }).dblclick()
			await page.getByText('Done.').waitFor()
			assert.equal(done, ['slow'])
		}),
	)

	browserTest('a deletion with a body asks for confirmation, too', () =>
		on('/odd/bed', async (page, done) => {
			await page.getByText('delete_bed').click()
			const why = page.getByRole('textbox', { name: 'why' })
			assert.is(await why.inputValue(), '')
			await why.fill('ab')
			const send = async () => {
				await page.getByRole('button', { name: 'Delete…' }).click()
				assert.is(await focused(page), 'Cancel')
				await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
			}
			await page.getByRole('button', { name: 'Delete…' }).click()
			await page.keyboard.press('Escape')
			assert.equal(done, [])
			await send()
			await page.locator('[aria-invalid=true]').waitFor()
			assert.is(await focused(page), 'delete-why')
			await why.fill('weeds')
			await send()
			await page.getByText('Deleted.').waitFor()
			assert.equal(done, ['delete because of weeds'])
		}),
	)

	browserTest('credentials can be used with a backslash in the query', () =>
		on('/odd/fields?a=\\b', async (page) => {
			await page.getByRole('button', { name: 'Credentials' }).click()
			await page.getByLabel('Token').fill('token')
			await page.getByRole('button', { name: 'Use token' }).click()
			await page.getByRole('button', { name: 'Bearer token' }).waitFor()
			assert.is(new URL(page.url()).search, '?a=\\b')
		}),
	)

	browserTest('an error is shown once', () =>
		on('/odd/error', async (page) => {
			assert.is(await page.locator('.error').textContent(), 'name is taken')
		}),
	)

	browserTest('a curl line for a write is as careful as the page', () =>
		on('/herbs/1', async (page) => {
			await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
			await page.getByRole('textbox', { name: 'name' }).fill('dill')
			await page.getByRole('button', { name: 'Copy as curl' }).click()
			await page.getByRole('button', { name: 'Copied' }).waitFor()
			assert.is(
				await page.evaluate('navigator.clipboard.readText()'),
				`curl -X PATCH '${page.url()}' -H 'Content-Type: application/json' -H 'If-Match: "1"' --data-raw '{"name":"dill"}'`,
			)
		}),
	)
})
