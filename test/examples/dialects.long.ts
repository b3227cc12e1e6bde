/**
 * Unmodified data providers for other servers, against handlers with a `dialect`: their calls against the blog's tables on
 * three databases, and pages of react-admin and refine in a browser.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { connect, type Database } from '../../examples/blog/database.ts'
import { fill } from '../../examples/blog/fill.ts'
import { createServer, RestHandler, reply, type Server } from '../../lib/index.ts'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'
import { ROOT, run } from '../helpers/program.ts'
import { handlersIn } from './dialects/handlers.ts'
import { type Place, places } from './places.ts'

interface Article {
	readonly id: number
	readonly title: string
	readonly topic: string
	readonly version: number
}

type Answer = { readonly data: unknown; readonly total?: number }
type Provider = Readonly<Record<string, (...args: unknown[]) => Promise<Answer>>>

/** The packages, installed from their lock file into a folder of their own. */
const folder = mkdtempSync(join(tmpdir(), 'verbena-dialects-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
cpSync(`${ROOT}/test/examples/dialects`, folder, { recursive: true })
const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
const installed = await run({ program: 'npm', args, cwd: folder })

/** What a package exports by default: a function that makes a provider. */
async function providerOf(name: string, url: string): Promise<Provider> {
	if (installed.code !== 0) throw new Error(installed.output)
	const file = createRequire(`${folder}/package.json`).resolve(name)
	let made = (await import(pathToFileURL(file).href)) as { default?: unknown }
	while (typeof made !== 'function') made = made.default as typeof made
	return (made as (url: string) => Provider)(url)
}

/** The blog's tables, filled, behind handlers in each dialect. */
async function blogAt(url: string): Promise<{ database: Database; server: Server; origin: string }> {
	const database = await connect(url)
	const [authors, articles, comments] = await Promise.all(
		['authors', 'articles', 'comments'].map((table) => database.open(table)),
	)
	assert.ok(authors && articles && comments)
	const tables = { authors, articles, comments }
	await fill(tables)
	const pages = { react: await page('react-admin'), refine: await page('refine') }
	const server = createServer(
		{ '': new Pages(pages), ...handlersIn('simple-rest', tables), ...handlersIn('json-server', tables) },
		{ logger: new Log(), graceTimeoutSeconds: 0.1 },
	)
	const { url: origin } = await server.listen()
	return { database, server, origin }
}

async function page(name: string): Promise<string> {
	const { outputFiles } = await build({
		...{
			entryPoints: [`${folder}/${name}.tsx`],
			bundle: true,
			write: false,
			format: 'esm',
			jsx: 'automatic',
		},
		...{ platform: 'browser', target: 'es2022', define: { 'process.env.NODE_ENV': '"production"' } },
	})
	return outputFiles.map(({ text }) => text).join('')
}

const POLICY = "default-src 'self'; img-src data:"

/** `GET /page/react/simple-rest` is a page, `GET /program/react` its program. */
class Pages extends RestHandler {
	private readonly programs: Readonly<Record<string, string>>

	constructor(programs: Readonly<Record<string, string>>) {
		super()
		this.programs = programs
	}

	get_page(program: string, dialect: string) {
		const text = `<!doctype html><html lang="${dialect}"><title>Blog</title><link rel="icon" href="data:,"><div id="root"></div><script type="module" src="/program/${program}"></script></html>`
		return reply(Buffer.from(text), {
			headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': POLICY },
		})
	}

	get_program(program: string) {
		const headers = { 'Content-Type': 'text/javascript; charset=utf-8' }
		return reply(Buffer.from(this.programs[program] ?? ''), { headers })
	}
}

const PAGE = { pagination: { page: 2, perPage: 5 }, sort: { field: 'title', order: 'ASC' }, filter: {} }
const REACT_ADMIN = [
	['ra-data-simple-rest', 'simple-rest'],
	['ra-data-json-server', 'json-server'],
] as const

for (const [name, make] of await places()) {
	describe(`other servers' data providers on ${name}`, (test) => {
		let place: Place | undefined
		let blog: Awaited<ReturnType<typeof blogAt>>

		test.before(async () => {
			place = await make()
			blog = await blogAt(place.url)
		})

		test.after(async () => {
			await blog?.server.close()
			await blog?.database.close()
			await place?.drop()
		})

		for (const [module, dialect] of REACT_ADMIN)
			test(`${module}: all of its calls`, async () => {
				const provider = await providerOf(module, `${blog.origin}/${dialect}`)
				const call = async <T = Article[]>(
					method: string,
					resource: string,
					params: object,
				): Promise<{ data: T; total?: number }> =>
					(await provider[method]?.(resource, params)) as { data: T; total?: number }
				const titles = ({ data }: { data: Article[] }) => data.map(({ title }) => title)

				const second = await call('getList', 'articles', PAGE)
				assert.equal([second.total, second.data.length], [234, 5])
				assert.equal(titles(second), [...titles(second)].sort())
				const first = await call('getList', 'articles', { ...PAGE, pagination: { page: 1, perPage: 10 } })
				assert.equal(titles(first).slice(5), titles(second))
				const all = { ...PAGE, filter: { q: 'VERBENA' }, pagination: { page: 1, perPage: 50 } }
				const found = await call('getList', 'articles', all)
				assert.ok(Number(found.total) > 1 && titles(found).every((title) => /verbena/i.test(title)))
				assert.is(titles(found).length, found.total)
				const byAuthor = await call<{ authorId: number; author: object }[]>('getList', 'articles', {
					...{ ...PAGE, filter: { authorId: 2, id_gte: 5 } },
					meta: { embed: ['author'] },
				})
				assert.ok(
					byAuthor.data.every(({ authorId, author }) => authorId === 2 && Object.hasOwn(author, 'name')),
				)

				const { data: one } = await call<Article>('getOne', 'articles', { id: '3' })
				assert.is(one.id, 3)
				const many = await call('getMany', 'articles', { ids: Array.from({ length: 60 }, (_, at) => at + 1) })
				assert.is(many.data.length, 60)
				const [{ articleId: commented } = { articleId: 0 }] = (
					await call<{ articleId: number }[]>('getList', 'comments', {
						...PAGE,
						sort: { field: 'id', order: 'ASC' },
					})
				).data
				const comments = await call<{ articleId: number }[]>('getManyReference', 'comments', {
					...{ target: 'articleId', id: commented, filter: {} },
					...{ pagination: { page: 1, perPage: 1 }, sort: { field: 'id', order: 'DESC' } },
				})
				assert.equal([comments.data.length, comments.data[0]?.articleId], [1, commented])
				assert.ok(Number(comments.total) >= 1)

				const data = { authorId: 1, topic: 'herbs', title: 'Made by a provider', body: 'x' }
				const { data: made } = await call<Article>('create', 'articles', { data })
				assert.is(made.title, data.title)
				const changes = { ...made, title: 'Changed by a provider' }
				const { data: changed } = await call<Article>('update', 'articles', {
					id: made.id,
					data: changes,
					previousData: made,
				})
				assert.equal(changed, { ...changes, version: Number(made.version) + 1 })
				const refusal = await refused(
					call('update', 'articles', { id: made.id, data: changes, previousData: made }),
				)
				assert.is(refusal.status, 412)
				const invalid = await refused(call('create', 'articles', { data: { ...data, title: 'x' } }))
				assert.equal(
					[invalid.status, invalid.body.errors],
					[422, { title: 'must have at least 3 characters' }],
				)

				const ids = [made.id, (await call<Article>('create', 'articles', { data })).data.id]
				assert.equal((await call('updateMany', 'articles', { ids, data: { topic: 'teas' } })).data, ids)
				const topics = (await call('getMany', 'articles', { ids })).data.map(({ topic }) => topic)
				assert.equal(topics, ['teas', 'teas'])
				assert.is(
					(await call<Article>('delete', 'articles', { id: made.id, previousData: made })).data.id,
					made.id,
				)
				assert.equal((await call('deleteMany', 'articles', { ids: ids.slice(1) })).data, ids.slice(1))
				assert.equal((await call('getMany', 'articles', { ids })).data, [])
				assert.is((await refused(call('getOne', 'articles', { id: made.id }))).status, 404)
			})

		test('@refinedev/simple-rest: all of its calls', async () => {
			const provider = await providerOf('@refinedev/simple-rest', `${blog.origin}/json-server`)
			const call = async <T = Article[]>(
				method: string,
				params: object,
			): Promise<{ data: T; total?: number }> =>
				(await provider[method]?.({ resource: 'articles', ...params })) as { data: T; total?: number }
			const sorters = [
				{ field: 'authorId', order: 'desc' },
				{ field: 'title', order: 'asc' },
			]
			const filters = [
				{ field: 'title', operator: 'contains', value: 'THYME' },
				{ field: 'id', operator: 'lte', value: 200 },
				{ field: 'topic', operator: 'ne', value: 'none' },
			]
			const list = await call('getList', { pagination: { currentPage: 1, pageSize: 3 }, sorters, filters })
			assert.ok(list.data.length > 0 && Number(list.total) >= list.data.length)
			assert.ok(list.data.every(({ title, id }) => /thyme/i.test(title) && id <= 200))
			assert.is((await call('getList', { pagination: { mode: 'off' }, filters: [] })).data.length, 100)
			const found = await call('getList', { filters: [{ field: 'q', operator: 'eq', value: 'verbena tea' }] })
			assert.equal(
				found.data.map(({ title }) => title),
				['Verbena tea, hot and cold'],
			)
			assert.equal(
				(await call('getMany', { ids: [1, 2] })).data.map(({ id }) => id),
				[1, 2],
			)
			assert.is((await call<Article>('getOne', { id: 3 })).data.id, 3)
			const variables = { authorId: 1, topic: 'herbs', title: 'Made by refine', body: 'x' }
			const { data: made } = await call<Article>('create', { variables })
			const { data: changed } = await call<Article>('update', {
				id: made.id,
				variables: { title: 'Changed' },
			})
			assert.equal(changed, { ...made, title: 'Changed', version: Number(made.version) + 1 })
			const invalid = await refused(call('update', { id: made.id, variables: { title: 'x' } }))
			assert.equal([invalid.statusCode, invalid.message], [422, 'title must have at least 3 characters'])
			assert.is((await call<Article>('deleteOne', { id: made.id })).data.id, made.id)
			assert.is((await refused(call('getOne', { id: made.id }))).statusCode, 404)
		})
	})
}

interface Refusal {
	readonly message: string
	readonly status?: number
	readonly statusCode?: number
	readonly body: { readonly errors?: object }
}

async function refused(work: Promise<unknown>): Promise<Refusal> {
	const thrown = await work.then(
		() => undefined,
		(error: unknown) => error,
	)
	assert.ok(thrown, 'it was not refused')
	return thrown as Refusal
}

describe("pages with other servers' data providers", (test) => {
	const browserTest = inChromium(test, "pages with other servers' data providers")
	let blog: Awaited<ReturnType<typeof blogAt>>
	let browser: Browser | undefined

	test.before(async () => {
		blog = await blogAt('sqlite::memory:')
	})

	test.after(async () => {
		await browser?.close()
		await blog?.server.close()
		await blog?.database.close()
	})

	/** Opens a page; fails where it has complained, but of answers that are no success. */
	async function onPage(path: string, use: (page: Page) => Promise<void>): Promise<void> {
		browser ??= await launch()
		const page = await browser.newPage()
		page.setDefaultTimeout(30_000)
		const complaints: string[] = []
		page.on('pageerror', (error) => complaints.push(String(error)))
		page.on('console', (message) => {
			if (message.type() === 'error') complaints.push(message.text())
		})
		try {
			await page.goto(`${blog.origin}/page/${path}`)
			await use(page)
			assert.equal(
				complaints.filter((text) => !/status of 4(?:04|22)/.test(text)),
				[],
			)
		} finally {
			await page.close()
		}
	}

	for (const [, dialect] of REACT_ADMIN)
		browserTest(`react-admin over ${dialect} lists, searches, edits, and changes and deletes many`, () =>
			onPage(`react/${dialect}#/articles`, async (page) => {
				const heading = (text: string) => page.getByRole('heading', { name: text, exact: true }).waitFor()
				await heading('234 articles, page 1')
				await page.locator('li span').nth(4).waitFor()
				await page.getByRole('button', { name: 'Next' }).click()
				await heading('234 articles, page 2')
				await page.getByLabel('Search').fill('verbena tea')
				await heading('1 articles, page 1')
				await page.locator('li button').first().click()
				await page.getByRole('heading', { name: /^\d+ comments$/ }).waitFor()
				const title = page.getByLabel('title')
				await title.fill('x')
				await page.getByRole('button', { name: 'Save' }).click()
				await page.getByText('must have at least 3 characters', { exact: true }).waitFor()
				await title.fill(`Verbena tea by ${dialect}`)
				await page.getByRole('button', { name: 'Save' }).click()
				await page.getByLabel(`Select Verbena tea by ${dialect}`).check()
				await page.getByRole('button', { name: 'Choose' }).click()
				await page.getByText('chosen', { exact: true }).waitFor()
				await page.getByRole('button', { name: 'Delete' }).click()
				await heading('0 articles, page 1')
				await fetch(`${blog.origin}/${dialect}/articles`, {
					method: 'POST',
					headers: { 'Content-Type': 'application/json' },
					body: JSON.stringify({ authorId: 1, topic: 'teas', title: 'Verbena tea again', body: 'x' }),
				})
			}),
		)

	browserTest('refine over json-server lists, searches, edits and deletes', () =>
		onPage('refine/json-server', async (page) => {
			const heading = (text: string) => page.getByRole('heading', { name: text, exact: true }).waitFor()
			await heading('234 articles, page 1')
			await page.locator('li span:not(:empty)').nth(4).waitFor()
			await page.getByRole('button', { name: 'Next' }).click()
			await heading('234 articles, page 2')
			await page.getByLabel('Search').fill('VERBENA TEA')
			await page.getByText('Verbena tea again', { exact: true }).click()
			const title = page.getByLabel('title', { exact: true })
			await title.fill('x')
			await page.getByRole('button', { name: 'Save' }).click()
			await page.getByText('title must have at least 3 characters', { exact: true }).waitFor()
			await title.fill('Verbena tea by refine')
			await page.getByRole('button', { name: 'Save' }).click()
			await page.getByLabel('Delete Verbena tea by refine').click()
			await page.getByText('Verbena tea by refine').waitFor({ state: 'detached' })
		}),
	)
})
