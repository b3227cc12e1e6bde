/** What forms send, and where: files, whole records, and requests during which the user navigates away. */
import { text } from 'node:stream/consumers'
import type { Browser, Locator, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	createServer,
	HmacAuthenticator,
	MemoryModel,
	RestHandler,
	type Server,
} from '../../lib/index.ts'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { Log, until } from '../helpers/listening.ts'
import { focused, REFUSED, SECRET, visit } from './garden.ts'

const LEAF = { name: 'leaf.txt', mimeType: 'text/plain', buffer: Buffer.from('bytes of a leaf, é') }

class Shed extends RestHandler {
	override streaming = ['put_film']
	readonly done: string[] = []
	readonly gate = { open: () => {} }
	async put_film(id: string) {
		const { headers, stream } = this.request
		this.done.push(`film ${id}, ${headers['content-type']}: ${await text(stream)}`)
	}
	get_closed() {
		if (this.done.length === 1) return 'opened'
		this.done.push('closed')
		return this.error('The shed is closed', 503)
	}
	put_closed() {}
	post_any() {
		this.done.push(`any: ${this.getRawPostData()}`)
	}
	async post_slow() {
		await new Promise<void>((resolve) => {
			this.gate.open = resolve
			this.done.push('slow')
		})
		return this.post.more === true ? this.error('The shed is full', 409) : undefined
	}
}

/** Apart from what reads a stream: a signed body is compared before its method runs. */
class Photos extends RestHandler {
	override access = { '*': 'user' } as const
	override authenticator = new HmacAuthenticator(undefined, undefined, 300, { keys: { k1: SECRET } })
	private readonly done: string[]
	constructor(done: string[]) {
		super()
		this.done = done
	}
	async post_photo() {
		const [photo] = this.files.photo ?? []
		this.done.push(`photo ${photo?.name}, ${photo?.type}: ${await photo?.text()}`)
	}
}

class Plants extends CrudHandler {
	constructor() {
		const fields = {
			id: 'integer',
			name: 'text',
			place: { type: 'text', default: 'nowhere' },
			notes: { type: 'text', default: '' },
		} as const
		const long = 'x'.repeat(1_100_000)
		super(
			new MemoryModel('plant', {
				...{ key: 'id', fields },
				rows: [
					{ name: 'mint', place: 'shade', notes: 'spreads' },
					{ name: 'thyme', place: 'sun', notes: long },
				],
			}),
			{
				visible: 'all',
				updatable: ['name', 'place', 'notes'],
				allow: ['list', 'read', 'update', 'replace', 'remove'],
			},
		)
	}
}

describe('explorer: requests sent by forms', (test) => {
	const browserTest = inChromium(test, 'the explorer')
	let browser: Browser | undefined
	let site: { server: Server; url: string; shed: Shed } | undefined

	test.after(async () => {
		await browser?.close()
		await site?.server.close()
	})

	async function on(path: string, use: (page: Page, shed: Shed) => Promise<void>): Promise<void> {
		browser ??= await launch()
		if (site === undefined) {
			const shed = new Shed()
			const handlers = { shed, photos: new Photos(shed.done), plants: new Plants() }
			const server = createServer(handlers, { explorer: true, logger: new Log(), graceTimeoutSeconds: 0.1 })
			site = { server, shed, url: (await server.listen()).url }
		}
		const { url, shed } = site
		shed.done.length = 0
		const allowed = new RegExp(`${REFUSED.source}|status of 503|net::ERR_FAILED`)
		await visit(browser, url, { path, allowed }, (page) => use(page, shed))
	}

	async function plant(id: number): Promise<unknown> {
		const reply = await site?.server.inject({ url: `/plants/${id}?fields=name,place` })
		return reply?.json()
	}

	function card(page: Page, method: string): Locator {
		return page.locator('details.operation').filter({ has: page.locator(`.method.${method}`) })
	}

	browserTest("a method that streams its body receives a file's bytes and type", () =>
		on('/shed/film/5', async (page, { done }) => {
			const form = card(page, 'put')
			await form.locator('summary').click()
			await form.getByRole('button', { name: 'Replace' }).click()
			await form.getByText('Choose a file first.').waitFor()
			assert.is(await focused(page), 'put-file')
			await form.getByLabel('File').setInputFiles(LEAF)
			await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
			await form.getByRole('button', { name: 'Copy as curl' }).click()
			await form.getByRole('button', { name: 'Copied' }).waitFor()
			assert.is(
				await page.evaluate('navigator.clipboard.readText()'),
				`curl -X PUT '${page.url()}' -H 'Content-Type: text/plain' --data-binary '@leaf.txt'`,
			)
			await form.getByRole('button', { name: 'Replace' }).click()
			await page.getByText('Replaced.').waitFor()
			assert.equal(done, ['film 5, text/plain: bytes of a leaf, é'])
			// It also accepts a text.
			await form.locator('summary').click()
			await form.getByRole('button', { name: 'JSON' }).click()
			assert.is(await focused(page), 'put-json')
			await page.keyboard.type('{}')
			await form.getByRole('button', { name: 'Replace' }).click()
			await until(() => done.length === 2, 'the text has come')
			assert.is(done[1], 'film 5, application/json: {}')
		}),
	)

	browserTest('with a name a file is a part of a form, which is signed, and stays selected', () =>
		on('/photos/photo', async (page, { done }) => {
			const useKey = async () => {
				await page.getByRole('button', { name: 'Credentials' }).click()
				await page.getByLabel('Key id').fill('k1')
				await page.getByLabel('Secret').fill(SECRET)
				await page.getByRole('button', { name: 'Use key' }).click()
				await page.getByText('as k1').waitFor()
			}
			await useKey()
			const form = card(page, 'post')
			await form.locator('summary').click()
			await form.getByRole('button', { name: 'File' }).click()
			assert.is(await focused(page), 'post-file')
			await form.getByLabel('File').setInputFiles(LEAF)
			await form.getByLabel('Name in a form').fill('photo')
			// The page is rendered again.
			await page.getByRole('button', { name: 'Headers' }).click()
			await form.getByRole('button', { name: 'Create' }).click()
			await page.getByText('Done.').waitFor()
			assert.equal(done, ['photo leaf.txt, text/plain: bytes of a leaf, é'])
		}),
	)

	browserTest('a method without a body schema can be sent a file', () =>
		on('/shed/any', async (page, { done }) => {
			const form = card(page, 'post')
			await form.locator('summary').click()
			await form.getByRole('button', { name: 'File' }).click()
			await form.getByLabel('File').setInputFiles({ ...LEAF, mimeType: '' })
			await form.getByRole('button', { name: 'Create' }).click()
			await page.getByText('Done.').waitFor()
			assert.equal(done, ['any: bytes of a leaf, é'])
		}),
	)

	browserTest('a record can only be replaced as a whole', () =>
		on('/plants/1?fields=name', async (page) => {
			const form = card(page, 'put')
			await form.locator('summary').click()
			assert.is(await form.locator('form').count(), 0)
			assert.is(await card(page, 'patch').locator('form').count(), 1)
			await form.getByRole('link', { name: 'Show the whole record' }).click()
			await form.getByRole('textbox', { name: 'name' }).fill('peppermint')
			await form.getByRole('button', { name: 'Replace' }).click()
			await page.getByText('Replaced.').waitFor()
			assert.equal(await plant(1), { success: true, data: { name: 'peppermint', place: 'shade' } })
			await page.goto(new URL('/plants/2', page.url()).href)
			await form.locator('summary').click()
			// It is too long to be shown, here and by any link.
			await form.getByText('Replacing takes the whole record').waitFor()
			assert.is(await form.locator('form, a').count(), 0)
			await page.goto(new URL('/shed/closed', page.url()).href)
			await form.locator('summary').click()
			await form.getByText('Replacing takes the whole record').waitFor()
			await form.getByRole('link', { name: 'Show the whole record' }).click()
			await page.getByText('opened').waitFor()
			await form.getByRole('textbox', { name: 'JSON' }).waitFor()
		}),
	)

	browserTest('a form applies to the displayed record, even when the address has moved on', () =>
		on('/plants/1', async (page) => {
			await page.route('**/plants/2', (route) => route.abort())
			await page.evaluate(
				"history.pushState(null, '', '/plants/2'); dispatchEvent(new PopStateEvent('popstate'))",
			)
			await page.getByText('The server can’t be reached. Try again.').waitFor()
			assert.is(new URL(page.url()).pathname, '/plants/2')
			const sent = page.waitForRequest((request) => request.method() === 'PATCH')
			const form = card(page, 'patch')
			await form.getByRole('textbox', { name: 'place' }).fill('pot')
			await form.getByRole('button', { name: 'Save changes' }).click()
			assert.is(new URL((await sent).url()).pathname, '/plants/1')
			await page.getByText('Saved.').waitFor()
			await page.waitForURL('**/plants/1')
			assert.equal(await plant(1), { success: true, data: { name: 'peppermint', place: 'pot' } })
			assert.equal(await plant(2), { success: true, data: { name: 'thyme', place: 'sun' } })
		}),
	)

	browserTest('navigating away during a request is not undone by its response', () =>
		on('/shed/slow', async (page, shed) => {
			const asked: string[] = []
			page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`))
			await card(page, 'post').locator('summary').click()
			await page.getByRole('button', { name: 'Create' }).click()
			await until(() => shed.done.length === 1, 'it is being done')
			await page.getByRole('link', { name: 'API', exact: true }).click()
			await page.getByRole('heading', { name: 'All routes' }).waitFor()
			shed.gate.open()
			await page.getByText('Done.').waitFor()
			await page.evaluate("fetch('/plants/1').then((answer) => answer.text())")
			assert.equal(asked, ['POST /shed/slow', 'GET /', 'GET /plants/1'])
			assert.is(await page.getByRole('heading', { level: 1 }).textContent(), 'All routes')
		}),
	)

	browserTest('a refusal is reported on the page navigated to', () =>
		on('/shed/slow', async (page, shed) => {
			const form = card(page, 'post')
			await form.locator('summary').click()
			await form.getByRole('textbox', { name: 'JSON' }).fill('{"more":true}')
			await form.getByRole('button', { name: 'Create' }).click()
			await until(() => shed.done.length === 1, 'it is being done')
			await page.getByRole('link', { name: 'API', exact: true }).click()
			await page.getByRole('heading', { name: 'All routes' }).waitFor()
			shed.gate.open()
			await page.getByText('POST /shed/slow: The shed is full (409)').waitFor()
		}),
	)

	browserTest('sections stay open or closed across responses', () =>
		on('/plants/1', async (page) => {
			await card(page, 'patch').locator('summary').click()
			await card(page, 'delete').locator('summary').click()
			await page.getByRole('button', { name: 'Headers' }).click()
			await page.getByText('application/json; charset=utf-8').waitFor()
			assert.is(await card(page, 'patch').getAttribute('open'), null)
			assert.is(await card(page, 'delete').getAttribute('open'), '')
		}),
	)
})
