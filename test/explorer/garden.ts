/** A server for tests of the page: articles with a field of each type, and a few methods; the browser fails on errors. */
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
	RestHandler,
	reply,
	type Server,
	TokenAuthenticator,
} from '../../lib/index.ts'
import { Log } from '../helpers/listening.ts'

export const SECRET: string = Buffer.alloc(32, 7).toString('base64')
export const MARKUP = '<script>document.title="owned"</script>'
export const IMAGE = '"><img src=x onerror=document.title="owned">'

const { token, digest } = newToken()
export const TOKEN: string = token

class Articles extends CrudHandler {
	override access: AccessRules = { create: 'user', update: 'user', replace: 'user', remove: 'user' }

	constructor() {
		const model = new MemoryModel('article', {
			key: 'id',
			fields: {
				id: 'integer',
				title: { type: 'text', maxLength: 100 },
				body: { type: 'text', nullable: true },
				state: { type: 'text', choices: ['draft', 'public'], default: 'draft' },
				rating: { type: 'integer', nullable: true },
				link: { type: 'text', nullable: true },
				featured: { type: 'boolean', default: false },
				tags: { type: 'json', default: [] },
				version: { type: 'integer', default: 1 },
			},
			rows: Array.from({ length: 30 }, (_, at) => ({
				title: `Title ${String(at + 1).padStart(2, '0')}`,
				body: at % 3 === 0 ? null : `Body of ${at + 1}`,
				rating: at % 5,
				link: at === 0 ? 'javascript:alert(1)' : at === 1 ? 'https://example.org/a?b=c' : null,
				tags: at === 0 ? ['herbs', 'tea'] : [],
			})),
		})
		super(model, {
			visible: ['id', 'title', 'body', 'state', 'rating', 'link', 'featured', 'tags'],
			updatable: ['title', 'body', 'state', 'rating', 'link', 'featured', 'tags'],
			searchable: ['title', 'body'],
			allow: ['list', 'read', 'create', 'update', 'replace', 'remove'],
			rules: { title: [{ min: 3 }] },
			version: 'version',
			limit: 10,
		})
	}
}

/** Answers without an envelope. */
class Plain extends CrudHandler {
	override wrap = false

	constructor() {
		const rows = [{ name: 'basil', day: '2026-11-20', hardy: null }, { name: 'mint' }, { name: 'dill' }]
		const fields = {
			name: { type: 'text' },
			day: { type: 'date', nullable: true },
			hardy: { type: 'boolean', nullable: true },
		} as const
		super(new MemoryModel('herb', { key: 'name', fields, rows }), {
			visible: ['day', 'hardy', 'name'],
			updatable: ['day', 'hardy'],
			allow: ['list', 'read', 'update'],
			limit: 2,
		})
	}
}

class Notes extends RestHandler {
	override access: AccessRules = { get_me: 'user' }
	override specs = {
		get_sum: { a: ['required', 'integer'], b: ['integer'] },
		post_note: { text: ['required', 'string'] },
	} as const
	get_me() {
		return this.user?.id
	}
	get_sum() {
		const { a, b } = this.getParams(this.specs.get_sum, this.query)
		return { sum: a + (b ?? 0), big: 1 }
	}
	get_picture() {
		return reply(Buffer.from('<title>mine</title>'), { headers: { 'Content-Type': 'text/html' } })
	}
	get_markup() {
		this.header('X-Markup', IMAGE)
		return { [MARKUP]: IMAGE, list: [MARKUP], path: '/garden/articles/1' }
	}
	post_note() {
		return this.post
	}
}

export interface Garden {
	readonly server: Server
	readonly url: string
}

export async function garden(): Promise<Garden> {
	const authenticator = anyOf(
		new TokenAuthenticator({ tokens: (sent) => (sent === digest ? { id: 'ruth' } : undefined) }),
		new HmacAuthenticator(undefined, undefined, 300, { keys: { k1: SECRET } }),
	)
	const server = createServer(
		{ garden: new Notes(), 'garden/articles': new Articles(), 'garden/herbs': new Plain() },
		{ explorer: true, authenticator, logger: new Log(), graceTimeoutSeconds: 0.1 },
	)
	const { url } = await server.listen()
	return { server, url }
}

/** Chromium's own console message about an error response. */
export const REFUSED = /^Failed to load resource: the server responded with a status of 4\d\d /

export interface Visit {
	readonly path: string
	/** Allowed console messages. */
	readonly allowed?: RegExp
	readonly width?: number
	readonly colorScheme?: 'light' | 'dark'
}

/** Opens a page and runs `use`; fails on console errors, and on violations of its content security policy. */
export async function visit(
	browser: Browser | undefined,
	url: string,
	{ path, allowed = /^$/, width = 1_280, colorScheme = 'light' }: Visit,
	use: (page: Page) => Promise<void>,
): Promise<void> {
	assert.ok(browser)
	// A context takes longer to create than a page, and is shared, as it keeps no state.
	const context = browser.contexts()[0] ?? (await browser.newContext({ reducedMotion: 'no-preference' }))
	const page = await context.newPage()
	await page.setViewportSize({ width, height: 900 })
	await page.emulateMedia({ colorScheme })
	page.setDefaultTimeout(30_000)
	const complaints: string[] = []
	page.on('pageerror', (error) => complaints.push(String(error)))
	page.on('dialog', (dialog) => {
		complaints.push(`dialog: ${dialog.message()}`)
		void dialog.dismiss()
	})
	page.on('console', (message) => complaints.push(message.text()))
	await page.addInitScript(
		"addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))",
	)
	try {
		await page.goto(url + path)
		await use(page)
		assert.match(await page.title(), / · API explorer$/)
		assert.equal(
			complaints.filter((text) => !allowed.test(text)),
			[],
		)
	} finally {
		await page.close()
	}
}

/** Gives the page a token. */
export async function useToken(page: Page, token = TOKEN): Promise<void> {
	await page.getByRole('button', { name: 'Credentials' }).click()
	await page.getByLabel('Token').fill(token)
	await page.getByRole('button', { name: 'Use token' }).click()
	await page.getByText('as ruth').waitFor()
}

/** The cells of a table's column. */
export function column(page: Page, at: number): Promise<string[]> {
	return page.locator(`tbody tr > :nth-child(${at})`).allTextContents()
}

/** The focused element: its key, else its text. */
export function focused(page: Page): Promise<unknown> {
	return page.evaluate(
		'[document.activeElement].map((one) => one.dataset.key || one.id || one.textContent).join()',
	)
}
