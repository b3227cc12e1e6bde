/** A page of one origin uses the API of another with `verbena/client`, in Chromium. */
import { build } from 'esbuild'
import type { Browser } from 'playwright-core'
import * as assert from 'uvu/assert'
import {
	CrudHandler,
	type CrudValues,
	createServer,
	type Deprecated,
	type Handlers,
	HmacAuthenticator,
	MemoryModel,
	type Request,
	RestHandler,
	reply,
	type Server,
} from '../../lib/index.ts'
import { inChromium, launch } from '../helpers/chromium.ts'
import { describe } from '../helpers/describe.ts'
import { Log } from '../helpers/listening.ts'
import { ROOT } from '../helpers/program.ts'
import type { Trial } from './page.ts'

class Pages extends RestHandler {
	private readonly script: string

	constructor(script: string) {
		super()
		this.script = script
	}

	get__default() {
		const headers = { 'Content-Type': 'text/html', 'Content-Security-Policy': '' }
		return reply(Buffer.from('<!doctype html><title>App</title><script src="/script/js"></script>'), {
			headers,
		})
	}
	get_script(_name: string) {
		return reply(Buffer.from(this.script), { headers: { 'Content-Type': 'text/javascript' } })
	}
}

class Plants extends CrudHandler {
	constructor(table: MemoryModel) {
		const allow = ['list', 'read', 'create', 'update', 'remove'] as const
		super(table, { visible: ['id', 'name'], updatable: ['name'], allow, version: 'version' })
	}

	/** With a version that is known beforehand. */
	override create(values: CrudValues) {
		return super.create({ ...values, version: 1 })
	}
}

class Bare extends Plants {
	override readonly wrap = false
}

class Limited extends Plants {
	override rateLimits = { read: { limit: 1, windowSeconds: 60 } }
}

class Private extends Plants {
	override authenticator = {
		authenticate: (request: Request) => (request.header('Cookie') === 'session=ada' ? { id: 'ada' } : null),
	}
	override access = { '*': 'user' }
}

class Signed extends Plants {
	override authenticator = new HmacAuthenticator(this, undefined, 300, { keys: { page: 's'.repeat(44) } })
	override access = { '*': 'user' }
}

class Api extends RestHandler {
	post_session() {
		this.header('Set-Cookie', 'session=ada; HttpOnly; SameSite=Strict; Path=/')
	}
}

class Old extends RestHandler {
	static override deprecated: Deprecated = { since: '2026-01-01', sunset: '2026-12-31', link: '/docs' }
	get__default() {
		this.header('X-Own', 'a')
		this.header('X-Other', 'b')
		return null
	}
}

function table(): MemoryModel {
	const rows = ['Thyme', 'Bay', 'Chive', 'Cress', 'Lovage'].map((name, at) => ({
		id: at + 1,
		name,
		version: 1,
	}))
	const fields = { id: 'integer', name: 'text', version: { type: 'integer', default: 1 } } as const
	return new MemoryModel('plant', { fields, key: 'id', rows })
}

function apiOf(): Handlers {
	return {
		api: new Api(),
		...{
			'api/plant': new Plants(table()),
			'api/bare': new Bare(table()),
			'api/limited': new Limited(table()),
		},
		...{ 'api/private': new Private(table()), 'api/signed': new Signed(table()), 'api/old': new Old() },
		'api/v1/plant': new Plants(table()),
	}
}

describe('cors: a page of another origin', (test) => {
	const browserTest = inChromium(test, 'CORS')
	const servers: Server[] = []
	let browser: Browser | undefined
	let app: string | undefined

	test.after(async () => {
		await browser?.close()
		await Promise.all(servers.map((server) => server.close()))
	})

	async function opened(server: Server): Promise<string> {
		servers.push(server)
		return (await server.listen()).url
	}

	/** As a user would bundle it. */
	async function bundled(): Promise<string> {
		const { outputFiles } = await build({
			...{ entryPoints: [`${ROOT}/test/cors/page.ts`], bundle: true, write: false, format: 'iife' },
		})
		return outputFiles[0]?.text ?? ''
	}

	/** An address of pages, and one of an API that lets them in, whose tables are new. */
	async function site(): Promise<{ app: string; api: string }> {
		app ??= await opened(createServer({ '': new Pages(await bundled()) }))
		const cors = { origins: [app], credentials: true, exposedHeaders: ['X-Own'] }
		const options = { cors, requestId: 'X-Request-Id', logger: new Log() }
		return { app, api: `${await opened(createServer(apiOf(), options))}/api` }
	}

	/** Runs a trial in a page. */
	async function seen(page: string, api: string, trial: Trial): Promise<unknown> {
		browser ??= await launch()
		const context = await browser.newContext()
		try {
			const tab = await context.newPage()
			await tab.goto(page)
			return await tab.evaluate(`trial(${JSON.stringify(trial)}, ${JSON.stringify(api)})`)
		} finally {
			await context.close()
		}
	}

	const unauthorized = [401, 'unauthorized', 'Unauthorized']
	const noVersion = [404, 'not_found', 'There is no version v9 here: v1']

	const trials: [what: string, trial: Trial, sees: unknown][] = [
		[
			'turns pages by Link, and knows the total',
			'list',
			[
				[[1, 2], 'string', 5],
				[[3, 4], 'string', null],
				[[5], 'object', null],
			],
		],
		['creates, and reads Location and ETag', 'create', [201, '/api/plant/6', '"1"']],
		[
			'changes a record only as it was seen',
			'conflict',
			['"1"', '"2"', [412, 'precondition_failed', 'Precondition Failed'], true],
		],
		['is told how long to wait', 'limit', [429, true, '"read";q=1;w=60']],
		['overrides methods', 'override', ['Basil', [404, 'not_found', 'Not Found']]],
		['sends cookies where it says so', 'credentials', [unauthorized, 'Thyme', unauthorized]],
		['signs', 'signed', 'Dill'],
		['reads which versions there are', 'nowhere', [noVersion, noVersion]],
		[
			'reads of a version that ends, and which headers it may',
			'ended',
			['@1767225600', 'Thu, 31 Dec 2026 00:00:00 GMT', '</docs>; rel="deprecation"', 'a', null],
		],
	]
	for (const [what, trial, sees] of trials) {
		browserTest(what, async () => {
			const { app, api } = await site()
			const all = await seen(app, api, trial)
			if (trial !== 'ended') assert.equal(all, sees)
			else {
				const [id, ...rest] = (all as unknown[]).reverse()
				assert.match(String(id), /^[\da-f-]{36}$/)
				assert.equal(rest.reverse(), sees)
			}
		})
	}

	browserTest('can read nothing unless its origin is listed, and can change nothing', async () => {
		const { app, api } = await site()
		// Of another host, which the API knows nothing of.
		const page = app.replace('127.0.0.1', 'localhost')
		const failed = [0, 'network_error']
		assert.equal(await seen(page, api, 'refused'), [failed, failed])
		assert.equal(await seen(app, api, 'create'), [201, '/api/plant/6', '"1"'])
	})

	browserTest('can read nothing of an API without the option', async () => {
		const { app } = await site()
		const api = `${await opened(createServer(apiOf(), { logger: new Log() }))}/api`
		const failed = [0, 'network_error']
		assert.equal(await seen(app, api, 'refused'), [failed, failed])
	})

	browserTest("in a sandboxed frame, whose origin is 'null', reads only what is open to all", async () => {
		const { app, api } = await site()
		const open = await opened(createServer(apiOf(), { cors: { origins: '*' }, logger: new Log() }))
		browser ??= await launch()
		const page = await browser.newPage()
		await page.goto(app)
		const script = `for (const url of ${JSON.stringify([api, `${open}/api`])})
			fetch(url + '/plant/1').then((r) => r.status, () => 'refused').then((said) => parent.postMessage([url, said], '*'))`
		const said = await page.evaluate(`new Promise((resolve) => {
			const all = {}
			addEventListener('message', ({ data: [url, said], origin }) => {
				all[url] = [said, origin]
				if (Object.keys(all).length === 2) resolve(all)
			})
			const frame = document.createElement('iframe')
			frame.sandbox = 'allow-scripts'
			frame.srcdoc = ${JSON.stringify(`<script>${script}</script>`).replaceAll('/', '\\/')}
			document.body.append(frame)
		})`)
		assert.equal(said, { [api]: ['refused', 'null'], [`${open}/api`]: [200, 'null'] })
	})
})
