/**
 * A page in the browser that lists, shows, creates, edits and deletes articles with `CrudClient`. One server sends the page,
 * the client's module and the API. Everybody can read; changes must be signed with the printed key. The articles are kept in
 * memory.
 *
 *     npx tsx examples/crud-page/main.ts
 *     PORT=8080 npx tsx examples/crud-page/main.ts
 */
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { CrudHandler, createServer, HmacAuthenticator, RestHandler, reply } from '../../lib/index.ts' // you write 'verbena'
import { articlesModel, RULES } from './articles.ts'

/** The page at `/`, and what it imports. */
class Page extends RestHandler {
	override customRoutes = { 'GET client.js': 'client' }

	private readonly page: string
	private readonly module: string
	private readonly policy: string

	constructor(page: string, module: string) {
		super()
		this.page = page
		this.module = module
		this.policy = policyFor(page)
	}

	get__default() {
		return reply(Buffer.from(this.page), {
			headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': this.policy },
		})
	}

	client() {
		return reply(Buffer.from(this.module), { headers: { 'Content-Type': 'text/javascript; charset=utf-8' } })
	}
}

/** A Content-Security-Policy that allows the page's own script and style, but no script in the text of an article. */
function policyFor(page: string): string {
	const hashOf = (name: string) => {
		const [, text = ''] = new RegExp(`<${name}[^>]*>([\\s\\S]*?)</${name}>`).exec(page) ?? []
		return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
	}
	return [
		"default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		`script-src 'self' ${hashOf('script')}; style-src ${hashOf('style')}`,
	].join('; ')
}

/** In your project, this is `readFileSync('node_modules/verbena/dist/client/index.js', 'utf8')`. */
async function clientModule(): Promise<string> {
	const entry = fileURLToPath(new URL('../../lib/client/index.ts', import.meta.url))
	const { outputFiles } = await build({
		...{ entryPoints: [entry], bundle: true, write: false },
		...{ format: 'esm', platform: 'browser', target: 'es2022' },
	})
	return outputFiles.map(({ text }) => text).join('')
}

const page = readFileSync(new URL('index.html', import.meta.url), 'utf8')
const keys = { demo: randomBytes(32).toString('base64') }

class Articles extends CrudHandler {
	// A signature is valid for 300 s, and for one request.
	override authenticator = new HmacAuthenticator(this, undefined, 300, { keys })
	override access = { create: 'user', update: 'user', remove: 'user' }
}

const articles = new Articles(articlesModel(), {
	visible: 'all',
	updatable: ['slug', 'title', 'body', 'status'],
	searchable: ['title', 'body'],
	allow: ['list', 'read', 'create', 'update', 'remove'],
	rules: RULES,
	version: 'version',
})
const server = createServer({ '': new Page(page, await clientModule()), 'api/article': articles })
const { url } = await server.listen(Number(process.env.PORT ?? 3000))
console.log(`The page is at ${url}`)
console.log(`To change articles, sign in with the key "demo" and the secret ${keys.demo}`)
const stop = () => void server.close()
process.once('SIGINT', stop).once('SIGTERM', stop)
